import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import { pollersOf } from "./pollers.ts";
import { daemonFiles, logTail, runningDaemon, stopProcess } from "./process.ts";
import { ensureTemporal, keepTemporal, stopTemporal, type TemporalService } from "./temporal.ts";
import { ensureWorker, stackFolder, WORKER } from "./worker-daemon.ts";

export interface StackOptions {
  state: string;
  address?: string;
  namespace: string;
  /** `elsewhere`: workers run on other machines or in a cluster, and none is started here. Default: `here`. */
  workers?: "here" | "elsewhere";
  /** Names of variables that hold keys: the worker gets them from the caller's environment. */
  keys?: readonly string[];
  /** Told one line at a time what takes long or was restarted. */
  tell: (line: string) => void;
}

const WATCH_MS = 1_000;
/** A worker that ends as often as this within its first seconds will not do better the next time. */
const WORKER_STARTS = 5;
const EARLY_END_MS = 10_000;

/** Throws UsageError when the given server can't be used; nothing is started. */
export async function checkAddress(options: StackOptions): Promise<void> {
  if (options.address !== undefined) await ensureTemporal(temporalOptions(options));
}

/** Finds or starts what a sweep needs: a Temporal server and this machine's worker. Both outlive the caller. */
export async function ensureStack(options: StackOptions): Promise<TemporalService> {
  if (options.workers === "elsewhere") return findWorkers(options);
  const service = await ensureTemporal(temporalOptions(options));
  await markStackDown(options.state, false);
  await ensureWorker({ ...options, address: service.address, server: service.server });
  return service;
}

/** Workers may be scaled down to none until there is work, so that their absence is told and no error. */
async function findWorkers(options: StackOptions): Promise<TemporalService> {
  if (options.address === undefined) {
    throw new UsageError(
      "--workers elsewhere: needs the Temporal server that they serve; name it with --address",
    );
  }
  const service = await ensureTemporal(temporalOptions(options));
  if ((await pollersOf(service, GENERAL_QUEUE)) === 0) {
    const where = `task queue ${GENERAL_QUEUE} of ${service.address} (namespace ${service.namespace})`;
    options.tell(`no worker serves the ${where} now; cells wait until one does`);
  }
  return service;
}

/**
 * Restarts whatever ends, until the signal aborts. Throws when `bench down` stopped it, and when a worker keeps ending as
 * soon as it starts.
 */
export async function keepStack(
  options: StackOptions,
  service: Pick<TemporalService, "address" | "server">,
  signal: AbortSignal,
): Promise<void> {
  if (options.workers === "elsewhere") return;
  const checkWanted = async () => {
    if (await isMarked(options.state, DOWN))
      throw new Error("the embedded stack was stopped by `bench down`");
  };
  const temporal = keepTemporal({ ...temporalOptions(options), signal, checkWanted }, () =>
    options.tell("the Temporal server had ended and was started again"),
  );
  await Promise.all([
    temporal,
    keepWorker({ ...options, address: service.address, server: service.server }, checkWanted, signal),
  ]);
}

/** Does the work while whatever of the stack ends is started again. Throws what either of them does. */
export async function whileKept<T>(
  options: StackOptions,
  service: Pick<TemporalService, "address" | "server">,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const keeping = keepStack(options, service, over.signal);
  try {
    return await Promise.race([work(), keeping.then(() => new Promise<never>(() => undefined))]);
  } finally {
    over.abort();
    await Promise.allSettled([keeping]);
  }
}

async function keepWorker(
  options: StackOptions & { address: string; server: string },
  checkWanted: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let early = 0;
  let startedAt = Date.now();
  while (!signal.aborted) {
    if ((await runningDaemon(stackFolder(options.state), WORKER)) === null) {
      await checkWanted();
      early = Date.now() - startedAt < EARLY_END_MS ? early + 1 : 0;
      const { log } = daemonFiles(stackFolder(options.state), WORKER);
      if (early >= WORKER_STARTS)
        throw new Error(`the worker keeps ending; see ${log}:\n${await logTail(log)}`);
      startedAt = Date.now();
      await ensureWorker(options);
      options.tell("the worker had ended and was started again");
    }
    await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Ends the worker, then the embedded server. What runs in sandboxes goes on and is found again by the next worker. */
export async function stopStack(state: string): Promise<{ worker: boolean; temporal: boolean }> {
  const identity = await runningDaemon(stackFolder(state), WORKER);
  if (identity !== null) await stopProcess(identity, 15);
  return { worker: identity !== null, temporal: await stopTemporal({ stateFolder: resolve(state) }) };
}

export async function workerStatus(state: string): Promise<{ pid: number; log: string } | null> {
  const identity = await runningDaemon(stackFolder(state), WORKER);
  return identity && { pid: identity.pid, log: daemonFiles(stackFolder(state), WORKER).log };
}

const KEEP = "keep";
const DOWN = "down";

/** `bench up` and `--detach` leave a mark: the stack then stays when a sweep ends, until `bench down`. */
export function markStackKept(state: string, kept: boolean): Promise<void> {
  return mark(state, KEEP, kept);
}

export function isStackKept(state: string): Promise<boolean> {
  return isMarked(state, KEEP);
}

/** `bench down` leaves a mark, so that who attends a sweep does not start again what was stopped on purpose. */
export function markStackDown(state: string, down: boolean): Promise<void> {
  return mark(state, DOWN, down);
}

async function mark(state: string, name: string, set: boolean): Promise<void> {
  const file = join(stackFolder(state), name);
  if (!set) return rm(file, { force: true });
  await mkdir(stackFolder(state), { recursive: true });
  await writeFile(file, "");
}

function isMarked(state: string, name: string): Promise<boolean> {
  return stat(join(stackFolder(state), name)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

function temporalOptions(options: StackOptions) {
  return {
    stateFolder: resolve(options.state),
    namespace: options.namespace,
    progress: options.tell,
    ...(options.address === undefined ? {} : { address: options.address }),
  };
}
