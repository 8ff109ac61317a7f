import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessIdentity, processState } from "../../activities/store/process-identity.ts";

/** A background process of which there is at most one per (folder, name). */
export interface DaemonSpec {
  /** Holds `<name>.pid` (identity, JSON), `<name>.lock` (held by the process itself) and `<name>.log`. */
  folder: string;
  name: string;
  command: string;
  args: readonly string[];
  /** The whole environment: nothing of the caller's is passed on. */
  environment: Readonly<Record<string, string>>;
}

export interface DaemonStart {
  identity: ProcessIdentity;
  started: boolean;
}

/** Exit code of the launcher when the daemon's lock is held: another one runs. */
const ALREADY_RUNNING = 75;
const LOCK_PATIENCE_MS = 30_000;
const LOG_LIMIT_BYTES = 16 << 20;

/**
 * Takes the daemon's lock, leaves its identity and becomes the daemon. The lock's descriptor stays open in it, so that
 * the kernel itself says whether one runs, even when the caller was killed before it could note the pid.
 */
const LAUNCHER = `
exec 9>>"$1" && flock -n 9 || exit ${ALREADY_RUNNING}
identity=$2; shift 2
read -r stat < /proc/$$/stat && read -r boot < /proc/sys/kernel/random/boot_id || exit 70
namespace=$(readlink /proc/$$/ns/pid); namespace=\${namespace##*[}
start=$(set -- \${stat##*) }; echo "\${20}")
printf '{"pid":%s,"start":"%s","boot":"%s","namespace":"%s"}\\n' $$ "$start" "$boot" "\${namespace%]}" > "$identity.tmp" &&
  mv "$identity.tmp" "$identity" || exit 70
exec "$@"
`;

/**
 * Starts a daemon that outlives the caller, its terminal and its kill -9. `started` is false when one ran already.
 * Throws when the command can't be started; a daemon that ends early is the caller's to notice.
 */
export async function startDaemon(spec: DaemonSpec): Promise<DaemonStart> {
  const until = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const result = await launch(spec);
    if (result !== null) return result;
    // Another launcher is about to write its identity, or the old daemon is just ending.
    if (performance.now() > until) {
      throw new Error(
        `${daemonFiles(spec.folder, spec.name).lock} is held by a process that is not ${spec.name}`,
      );
    }
    await sleep(20);
  }
}

async function launch(spec: DaemonSpec): Promise<DaemonStart | null> {
  await mkdir(spec.folder, { recursive: true });
  const files = daemonFiles(spec.folder, spec.name);
  await rotate(files.log);
  const log = await open(files.log, "a");
  try {
    const child = spawn(
      "/bin/sh",
      ["-c", LAUNCHER, "sh", files.lock, files.identity, spec.command, ...spec.args],
      {
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
        cwd: spec.folder,
        env: { ...spec.environment },
      },
    );
    const exited = once(child, "exit");
    // Both fail when there is nothing to spawn; the race listens to both.
    await Promise.race([once(child, "spawn"), exited]);
    child.unref();
    return await identityOf(spec, child.pid as number, exited);
  } finally {
    await log.close();
  }
}

async function identityOf(
  spec: DaemonSpec,
  pid: number,
  exited: Promise<unknown[]>,
): Promise<DaemonStart | null> {
  let code: unknown;
  const ended = exited.then(([exit]) => {
    code = exit ?? "a signal";
  });
  for (;;) {
    // Taken before the look: a process that ends during it may have left its identity after it.
    const known = code;
    const identity = await readIdentity(spec.folder, spec.name);
    if (identity?.pid === pid) return { identity, started: true };
    if (known === ALREADY_RUNNING) {
      if (identity !== null && processState(identity) !== "dead") return { identity, started: false };
      return null;
    }
    if (known !== undefined) {
      throw new Error(
        `${spec.name} could not be started (exit ${known}); see ${daemonFiles(spec.folder, spec.name).log}`,
      );
    }
    await Promise.race([ended, sleep(10)]);
  }
}

/** The daemon's identity if it runs; null when it was never started, ended, or its pid belongs to another process. */
export async function runningDaemon(folder: string, name: string): Promise<ProcessIdentity | null> {
  const identity = await readIdentity(folder, name);
  return identity !== null && processState(identity) !== "dead" ? identity : null;
}

export function daemonFiles(folder: string, name: string): { identity: string; lock: string; log: string } {
  return {
    identity: join(folder, `${name}.pid`),
    lock: join(folder, `${name}.lock`),
    log: join(folder, `${name}.log`),
  };
}

/**
 * Asks a process to end (SIGTERM) and kills it after `graceSeconds`; returns when it is gone. A process that merely
 * inherited the pid is never signalled.
 */
export async function stopProcess(
  identity: ProcessIdentity,
  graceSeconds: number,
): Promise<"gone" | "ended" | "killed"> {
  if (processState(identity) === "unknown") {
    throw new Error(`process ${identity.pid} runs in another container; stop it there`);
  }
  if (!signal(identity, "SIGTERM")) return "gone";
  if (await ends(identity, graceSeconds * 1000)) return "ended";
  signal(identity, "SIGKILL");
  if (await ends(identity, 30_000)) return "killed";
  throw new Error(`process ${identity.pid} does not end even after SIGKILL`);
}

async function ends(identity: ProcessIdentity, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  for (let wait = 5; ; wait = Math.min(wait * 1.5, 200)) {
    if (processState(identity) === "dead") return true;
    if (performance.now() > until) return false;
    await sleep(wait);
  }
}

function signal(identity: ProcessIdentity, name: "SIGTERM" | "SIGKILL"): boolean {
  if (processState(identity) !== "alive") return false;
  try {
    process.kill(identity.pid, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

/** The last `bytes` of a daemon's log, for error messages. */
export async function logTail(file: string, bytes = 2_000): Promise<string> {
  return (await readOrNull(file))?.subarray(-bytes).toString("utf8").trim() ?? "";
}

async function readIdentity(folder: string, name: string): Promise<ProcessIdentity | null> {
  const text = await readOrNull(daemonFiles(folder, name).identity);
  return text === null ? null : (JSON.parse(text.toString("utf8")) as ProcessIdentity);
}

async function rotate(log: string): Promise<void> {
  const size = await stat(log)
    .then((stats) => stats.size)
    .catch(missing);
  if (size !== null && size > LOG_LIMIT_BYTES) await rename(log, `${log}.1`);
}

function readOrNull(file: string): Promise<Buffer | null> {
  return readFile(file).catch(missing);
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
