import { statfs } from "node:fs/promises";
import { CausedError } from "./errors.ts";

const NEEDED_BYTES = 128 << 20;

/**
 * Called when something failed in a sandbox. Sandboxes' disks are sparse files: on a full machine, writes fail inside
 * that no set-up is to blame for. Throws `capacity` when the state folder's disk has less than `needed` bytes free.
 */
export async function refuseFullDisk(stateFolder: string, needed = NEEDED_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(stateFolder);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new CausedError(
    "capacity",
    `${stateFolder}: the disk is full (${Math.floor(free / 2 ** 20)} MiB free), so that a failure in a sandbox says nothing`,
  );
}
