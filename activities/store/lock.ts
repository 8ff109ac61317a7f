import { randomBytes } from "node:crypto";
import { mkdir, readdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ownIdentity, type ProcessIdentity, processState } from "./process-identity.ts";

export interface LockOptions {
  /** Ends the waiting; `withLock` then throws the signal's reason. A lock already held is not given up. */
  signal?: AbortSignal;
  /** Called once when somebody else holds the lock, with the pids of the holders. */
  waiting?: (pids: number[]) => void;
}

const BEAT_MS = 5_000;
const FOREIGN_STALE_MS = 120_000;
const FIRST_WAIT_MS = 10;
const LAST_WAIT_MS = 250;

/**
 * Runs `fn` while this process, and no other call of this or another process, holds the lock `path`.
 *
 * The lock is a directory with one claim file per contender, named by its process identity. A contender makes its
 * claim first and looks afterwards: it holds the lock if no other live claim is there, else it takes its claim back
 * and tries again. Two can thus see each other and both step back, but never both go on. Names are unique, so that
 * clearing a dead owner's claim can never clear a live one, and a kill -9 at any moment leaves only a dead claim.
 */
export async function withLock<T>(path: string, fn: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const claim = await acquire(path, options);
  // Owners in other pid namespaces are judged by the age of their claim.
  const beat = setInterval(() => {
    utimes(claim, new Date(), new Date()).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") process.emitWarning(`lock ${path}: ${error.message}`);
    });
  }, BEAT_MS);
  beat.unref();
  try {
    return await fn();
  } finally {
    clearInterval(beat);
    await removeClaim(claim);
  }
}

async function acquire(path: string, options: LockOptions): Promise<string> {
  await mkdir(path, { recursive: true });
  const name = claimName(ownIdentity());
  const claim = join(path, name);
  let wait = FIRST_WAIT_MS;
  let told = false;
  for (;;) {
    options.signal?.throwIfAborted();
    let holders = await liveClaims(path, name);
    if (holders.length === 0) {
      await writeFile(claim, "", { flag: "wx" });
      holders = await liveClaims(path, name);
      if (holders.length === 0) return claim;
      await removeClaim(claim);
    }
    if (!told) options.waiting?.(holders);
    told = true;
    // Random, so that two who stepped back for each other don't meet again.
    await sleep(wait * (0.5 + Math.random()), undefined, options.signal ? { signal: options.signal } : {});
    wait = Math.min(wait * 1.5, LAST_WAIT_MS);
  }
}

/** Pids of the live claims other than `own`; claims of dead owners are cleared. */
async function liveClaims(path: string, own: string): Promise<number[]> {
  const pids: number[] = [];
  for (const name of await readdir(path)) {
    if (name === own) continue;
    const owner = parseClaim(name);
    if (owner === null) throw new Error(`lock ${path}: "${name}" is not a claim. Remedy: remove that file`);
    const state = processState(owner);
    if (state === "alive" || (state === "unknown" && !(await isStale(join(path, name)))))
      pids.push(owner.pid);
    else await removeClaim(join(path, name));
  }
  return pids;
}

async function isStale(claim: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(claim)).mtimeMs > FOREIGN_STALE_MS;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
}

async function removeClaim(claim: string): Promise<void> {
  try {
    await unlink(claim);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function claimName(owner: ProcessIdentity): string {
  return [owner.pid, owner.start, owner.namespace, owner.boot, randomBytes(6).toString("hex")].join("_");
}

function parseClaim(name: string): ProcessIdentity | null {
  const [pid, start, namespace, boot, salt, ...rest] = name.split("_");
  if (!pid || !start || !namespace || !boot || !salt || rest.length > 0 || !/^\d+$/.test(pid)) return null;
  return { pid: Number(pid), start, namespace, boot };
}
