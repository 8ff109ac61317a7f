import { readFileSync, readlinkSync } from "node:fs";

/**
 * A process, told apart from a later one that was given the same pid: `start` is its start time in clock ticks since
 * boot (field 22 of /proc/<pid>/stat), `boot` the kernel's boot id, `namespace` the pid namespace the pid counts in.
 */
export interface ProcessIdentity {
  pid: number;
  start: string;
  boot: string;
  namespace: string;
}

/** The identity of a running process; null when there is none with this pid (a zombie counts as none). */
export function processIdentity(pid: number): ProcessIdentity | null {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The command name (field 2) may hold blanks and brackets: count from its last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, start] = [fields[0], fields[19]];
  if (start === undefined || state === "Z" || state === "X") return null;
  return { pid, start, boot: bootId(), namespace: pidNamespace() };
}

export function ownIdentity(): ProcessIdentity {
  const own = processIdentity(process.pid);
  if (own === null)
    throw new Error("/proc is not mounted: process identities need it. Remedy: mount -t proc proc /proc");
  return own;
}

/** `unknown`: a process of another pid namespace (a container that shares the folder), which cannot be seen from here. */
export function processState(identity: ProcessIdentity): "alive" | "dead" | "unknown" {
  if (identity.boot !== bootId()) return "dead";
  if (identity.namespace !== pidNamespace()) return "unknown";
  const now = processIdentity(identity.pid);
  return now !== null && now.start === identity.start ? "alive" : "dead";
}

let boot: string | undefined;
function bootId(): string {
  boot ??= (readProc("/proc/sys/kernel/random/boot_id") ?? "none").trim();
  return boot;
}

let namespace: string | undefined;
function pidNamespace(): string {
  namespace ??= /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  return namespace;
}

function readProc(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // ESRCH: the process ended between open and read.
    if (code === "ENOENT" || code === "ESRCH") return null;
    throw error;
  }
}
