import { createReadStream } from "node:fs";
import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { CausedError } from "../errors.ts";
import type { TreeWriter } from "./tree-writer.ts";

/**
 * Copies a folder of this machine into `tree`. Left out, with a note each: `.git` (at any depth), sockets, pipes and
 * devices, links that leave the folder. File times are not taken over, so that only content counts.
 */
export async function copyDirectory(folder: string, tree: TreeWriter): Promise<string[]> {
  const notes: string[] = [];
  try {
    if (!(await stat(folder)).isDirectory())
      throw new CausedError("source_vanished", `${folder}: is not a folder`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CausedError("source_vanished", `${folder}: is not there; check the suite's path`, {
      cause: error,
    });
  }
  await copyFolder(Buffer.from(folder), "", tree, notes);
  return notes;
}

async function copyFolder(folder: Buffer, prefix: string, tree: TreeWriter, notes: string[]): Promise<void> {
  const names = await readdir(folder, { encoding: "buffer" });
  for (const name of names.sort(Buffer.compare)) {
    const at = Buffer.concat([folder, Buffer.from("/"), name]);
    const path = prefix + name.toString("latin1");
    const stats = await lstat(at);
    if (path.toLowerCase().split("/").at(-1) === ".git") {
      notes.push(`${path}: .git is not taken over`);
    } else if (stats.isDirectory()) {
      await tree.add({ kind: "folder", path });
      await copyFolder(at, `${path}/`, tree, notes);
    } else if (stats.isSymbolicLink()) {
      await tree.add({
        kind: "symlink",
        path,
        target: (await readlink(at, { encoding: "buffer" })).toString("latin1"),
      });
    } else if (stats.isFile()) {
      const executable = (stats.mode & 0o111) !== 0;
      await tree.add({ kind: "file", path, executable, mtime: 0, content: createReadStream(at) });
    } else {
      notes.push(`${path}: a special file is not taken over`);
    }
  }
}
