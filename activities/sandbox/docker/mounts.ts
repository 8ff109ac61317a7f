import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type Docker from "dockerode";
import { execa } from "execa";
import { mountSource } from "../contained/layout.ts";

/** Brings this machine's files to an engine elsewhere, with the names that binds would give them. */
export async function copyMounts(
  container: Docker.Container,
  mounts: readonly { source: string; target: string }[],
): Promise<void> {
  for (const [index, { source }] of mounts.entries()) {
    const target = mountSource(index).slice(1);
    const folder = (await stat(source)).isDirectory();
    // Everything is renamed to below the mount's place: `./a` of a folder, or the file itself.
    const from = folder ? ["-C", source, "."] : ["-C", dirname(source), basename(source)];
    const rename = folder ? `s,^\\.,${target},` : `s,.*,${target},`;
    const tar = execa("tar", ["-c", "--transform", rename, "--owner=0", "--group=0", "-f", "-", ...from], {
      buffer: false,
      stdout: "pipe",
    });
    await Promise.all([container.putArchive(tar.stdout, { path: "/" }), tar]);
  }
}

/** Says in one line what can't be mounted. */
export async function checkSources(mounts: readonly { source: string }[]): Promise<void> {
  for (const { source } of mounts) {
    await stat(source).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`mount source ${source}: ${error.code}. Remedy: give a file or folder that exists`);
    });
  }
}
