import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import type { BaseMaker } from "./made.ts";
import { runTool } from "./tool.ts";

/** The user's own tar, used as it is. */
export function tarMaker(path: string): BaseMaker {
  return {
    key: () => fileKey("tar", path),
    async make() {
      const sha256 = await fileSha256(path);
      return { tar: path, digest: sha256, recipe: { kind: "tar", path, sha256 } };
    },
  };
}

/** The user's own folder; what is mounted below it (its /proc, /sys, /dev) is left out. */
export function directoryMaker(path: string): BaseMaker {
  return {
    async key() {
      if (path === "/") {
        throw new UsageError(
          "base: / is this machine itself, with all its secrets. Remedy: give a folder made for sandboxes",
        );
      }
      return canonicalJson({ kind: "directory", path, fingerprint: await fingerprint(path) });
    },
    async make(work, options) {
      options.progress?.(`reading ${path}`);
      const tar = join(work, "root.tar");
      await runTool("tar", directoryTarArgs(path, tar), {
        remedy: "apt-get install tar",
        signal: options.signal,
      });
      const sha256 = await fileSha256(tar);
      return { tar, digest: sha256, recipe: { kind: "directory", path, sha256 } };
    },
  };
}

/** Size and time of a file, under which its content is taken to be the same. */
export async function fileKey(kind: string, path: string): Promise<string> {
  const { size, mtimeNs, ino } = await stat(path, { bigint: true });
  return canonicalJson({ kind, path, size: `${size}`, mtime: `${mtimeNs}`, inode: `${ino}` });
}

async function fileSha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

/** Equal folders give equal bytes: sorted, and without the times that reading changes. */
function directoryTarArgs(path: string, tar: string): string[] {
  const stable = ["--sort=name", "--numeric-owner", "--format=pax", "--pax-option=delete=atime,delete=ctime"];
  const skipped = ["./proc/*", "./sys/*", "./dev/*"].map((pattern) => `--exclude=${pattern}`);
  const whole = ["--xattrs", "--xattrs-include=*", "--one-file-system", "--anchored", ...skipped];
  const uid = process.getuid?.() ?? 0;
  // A folder of an ordinary user's is the sandbox's root's.
  const owner = uid === 0 ? [] : ["--owner=root:0", "--group=root:0"];
  return ["-cf", tar, "-C", path, ...stable, ...whole, ...owner, "."];
}

/** sha256 over path, mode, owner, size, time and link target of everything below `root`. */
async function fingerprint(root: string): Promise<string> {
  const hash = createHash("sha256");
  const device = (await stat(root)).dev;
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = (await readdir(join(root, folder))).sort();
    for (const name of names) {
      const relative = join(folder, name);
      const stats = await lstat(join(root, relative), { bigint: true });
      const link = stats.isSymbolicLink() ? await readlink(join(root, relative)) : "";
      const size = stats.isFile() ? stats.size : 0n;
      hash.update(`${relative}\0${stats.mode} ${stats.uid} ${stats.gid} ${size} ${stats.mtimeNs}\0${link}\0`);
      if (stats.isDirectory() && Number(stats.dev) === device) folders.push(relative);
    }
  }
  return hash.digest("hex");
}
