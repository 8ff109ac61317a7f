import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import type { ExecutionContext } from "ava";
import { extract } from "tar-stream";
import { fetchSource, openTar } from "../../activities/source/fetch.ts";
import type { GivenOptions } from "../../activities/source/options.ts";
import type { Source } from "../../benchmarks/schema.ts";
import type { SourceRef } from "../../workflows/types.ts";

export const run = promisify(execFile);

export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "source-"));
  t.teardown(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

export async function writeFiles(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

const IDENTITY = [
  "-c",
  "user.name=Test",
  "-c",
  "user.email=test@example.org",
  "-c",
  "init.defaultBranch=main",
];

/** Runs git in a folder, untouched by the settings of whoever runs the tests. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const date = "2024-05-06T07:08:09Z";
  const env = {
    PATH: process.env.PATH,
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    GIT_ALLOW_PROTOCOL: "file",
  };
  const { stdout } = await run("git", [...IDENTITY, "-C", folder, ...args], { env, maxBuffer: 1 << 26 });
  return stdout.trim();
}

/** Makes `<folder>/<name>` a repository with one commit of these files and returns the commit's id. */
export async function makeRepository(
  folder: string,
  name: string,
  files: Record<string, string | Buffer>,
): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  await git(path, "init", "--quiet");
  return commit(path, files);
}

export async function commit(path: string, files: Record<string, string | Buffer>): Promise<string> {
  await writeFiles(path, files);
  await git(path, "add", "--all", "--force");
  await git(path, "commit", "--quiet", "--allow-empty", "-m", "A commit");
  return git(path, "rev-parse", "HEAD");
}

/** Options under which https://code.example/ is the folder `mirror`. */
export function mirrored(
  stateFolder: string,
  mirror: string,
  more: Partial<GivenOptions> = {},
): GivenOptions {
  return { stateFolder, mirrors: [{ match: "^https://code\\.example/", replace: `${mirror}/` }], ...more };
}

export function gitSource(name: string, revision: string | null): Source {
  return { kind: "git", repository: `https://code.example/${name}`, revision };
}

export interface Packed {
  type: string;
  mode: number;
  mtime: number;
  link: string | null;
  owner: string;
  content: Buffer;
}

/** The tar stream's entries by path, without the leading `./`. */
export async function entriesOf(stateFolder: string, ref: SourceRef): Promise<Map<string, Packed>> {
  const entries = new Map<string, Packed>();
  const tar = extract();
  const feeding = pipeline(await openTar(stateFolder, ref), tar);
  for await (const entry of tar) {
    const { name, type, mode, mtime, linkname, uid, gid } = entry.header;
    const content = await buffer(entry as unknown as AsyncIterable<Uint8Array>);
    const path = name.replace(/^\.\//, "").replace(/\/$/, "");
    entries.set(path, {
      type,
      mode,
      mtime: mtime.getTime() / 1000,
      link: linkname,
      owner: `${uid}:${gid}`,
      content,
    });
  }
  await feeding;
  return entries;
}

/** Fetches and unpacks with the host's tar; returns the folder. */
export async function unpacked(t: ExecutionContext, source: Source, options: GivenOptions): Promise<string> {
  const ref = await fetchSource(source, options);
  const folder = await temporaryFolder(t);
  const bytes = await buffer(await openTar(options.stateFolder, ref));
  await writeFile(`${folder}.tar`, bytes);
  t.teardown(() => rm(`${folder}.tar`, { force: true }));
  await run("tar", ["--no-same-owner", "-xf", `${folder}.tar`, "-C", folder]);
  return folder;
}

/** Serves HTTP on a free port of this machine; returns the address without a slash at its end. */
export async function serve(t: ExecutionContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function text(folder: string, name: string): Promise<string> {
  return readFile(join(folder, name), "utf8");
}
