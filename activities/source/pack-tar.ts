import { lutimes, readdir } from "node:fs/promises";
import { join } from "node:path";
import { CausedError } from "../errors.ts";
import { runTool } from "./command.ts";

/**
 * Packs `tree` into the tar file `file` (GNU format): sorted by name, owner 0:0, modes 644 and 755. The same tree gives
 * the same bytes. `seconds` is the time of every entry; null keeps those of the files.
 */
export async function packTar(
  tree: string,
  file: string,
  seconds: number | null,
  signal: AbortSignal,
): Promise<void> {
  const time = seconds === null ? [] : [`--mtime=@${seconds}`];
  const result = await runTool({
    command: "tar",
    args: [
      "--create",
      `--file=${file}`,
      "--format=gnu",
      "--sort=name",
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "--mode=a=rX,u+w",
      "--hard-dereference",
      "--force-local",
      ...time,
      `--directory=${tree}`,
      ".",
    ],
    environment: { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" },
    cwd: tree,
    signal,
  });
  if (result.exit === 0) return;
  throw new CausedError(
    "source_unavailable",
    `tar failed (GNU tar is needed): ${result.stderr.trim().split("\n")[0]}`,
  );
}

/** Sets the time of a folder and of everything in it. */
export async function stampTimes(folder: string, seconds: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await stampTimes(path, seconds);
    else await lutimes(path, seconds, seconds);
  }
  await lutimes(folder, seconds, seconds);
}
