import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { CausedError } from "../../errors.ts";

/**
 * Host ids of a sandbox. Inside, 0–65535 are the command's and 65536 is the sandbox's own init.
 * Run by root: `user + n` for all of them. Run by another user: 0 is that user, n ≥ 1 is `user + n - 1`.
 */
export interface IdMap {
  root: boolean;
  user: number;
  group: number;
}

/** Above what systems hand out (/etc/subuid starts at 100000), and below the 2^31 that some file systems stop at. */
const ROOT_BASE = 0x60000000;
const NEEDED = 65_536;

export function idMap(): IdMap {
  const uid = process.getuid?.();
  if (process.platform !== "linux" || uid === undefined) {
    throw new CausedError("capacity", "the local driver needs Linux. Remedy: --driver docker or kubernetes");
  }
  if (uid === 0) return { root: true, user: ROOT_BASE, group: ROOT_BASE };
  const { username } = userInfo();
  return {
    root: false,
    user: subordinate("/etc/subuid", username, uid),
    group: subordinate("/etc/subgid", username, uid),
  };
}

/** The host id of the sandbox's init, for `chown`; null where only the kernel's mapping can give it (not root). */
export function supervisorId(map: IdMap): { user: number; group: number } | null {
  return map.root ? { user: map.user + NEEDED, group: map.group + NEEDED } : null;
}

/** First id of the user's first range that is long enough (man 5 subuid). */
function subordinate(file: string, name: string, uid: number): number {
  const lines = readOptional(file).split("\n");
  for (const line of lines) {
    const [owner, start, count] = line.split(":");
    if ((owner === name || owner === String(uid)) && Number(count) >= NEEDED) return Number(start);
  }
  throw new CausedError(
    "capacity",
    `${file}: ${name} has no range of ${NEEDED} ids. Remedy: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ${name}, or run as root`,
  );
}

function readOptional(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
