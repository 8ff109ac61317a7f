import { rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { daemonFiles, logTail, runningDaemon, startDaemon, stopProcess } from "./process.ts";
import { ensureTemporal, keepTemporal, stopTemporal, type TemporalService } from "./temporal.ts";

export interface StackOptions {
  state: string;
  address?: string;
  namespace: string;
  /** Told one line at a time what takes long or was restarted. */
  tell: (line: string) => void;
}

const WORKER = "worker";
const WATCH_MS = 1_000;
/** A worker that ends as often as this within its first seconds will not do better the next time. */
const WORKER_STARTS = 5;
const EARLY_END_MS = 10_000;

/** Finds or starts what a sweep needs: a Temporal server and this machine's worker. Both outlive the caller. */
export async function ensureStack(options: StackOptions): Promise<TemporalService> {
  const service = await ensureTemporal(temporalOptions(options));
  await ensureWorker(options, service.address);
  return service;
}

/** Restarts whatever ends, until the signal aborts. Throws when a worker keeps ending as soon as it starts. */
export async function keepStack(options: StackOptions, address: string, signal: AbortSignal): Promise<void> {
  const temporal = keepTemporal({ ...temporalOptions(options), signal }, () =>
    options.tell("the Temporal server had ended and was started again"),
  );
  await Promise.all([temporal, keepWorker(options, address, signal)]);
}

async function keepWorker(options: StackOptions, address: string, signal: AbortSignal): Promise<void> {
  let early = 0;
  let startedAt = Date.now();
  while (!signal.aborted) {
    if ((await runningDaemon(stackFolder(options.state), WORKER)) === null) {
      early = Date.now() - startedAt < EARLY_END_MS ? early + 1 : 0;
      const { log } = daemonFiles(stackFolder(options.state), WORKER);
      if (early >= WORKER_STARTS)
        throw new Error(`the worker keeps ending; see ${log}:\n${await logTail(log)}`);
      startedAt = Date.now();
      await ensureWorker(options, address);
      options.tell("the worker had ended and was started again");
    }
    await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function ensureWorker(options: StackOptions, address: string): Promise<void> {
  await startDaemon({
    folder: stackFolder(options.state),
    name: WORKER,
    command: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      fileURLToPath(new URL("../../workers/main.ts", import.meta.url)),
      ...["--state", resolve(options.state), "--address", address, "--namespace", options.namespace],
    ],
    environment: workerEnvironment(process.env),
  });
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

/** `bench up` and `--detach` leave a mark: the stack then stays when a sweep ends, until `bench down`. */
export async function markStackKept(state: string, kept: boolean): Promise<void> {
  const mark = join(stackFolder(state), "keep");
  if (kept) await writeFile(mark, "");
  else await rm(mark, { force: true });
}

export async function isStackKept(state: string): Promise<boolean> {
  return stat(join(stackFolder(state), "keep")).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

function stackFolder(state: string): string {
  return resolve(state, "stack");
}

function temporalOptions(options: StackOptions) {
  return {
    stateFolder: resolve(options.state),
    namespace: options.namespace,
    progress: options.tell,
    ...(options.address === undefined ? {} : { address: options.address }),
  };
}

/** What a worker may know of the caller's environment: where programs are and how the network is reached. */
const PASSED_ON =
  /^(PATH|HOME|LANG|TMPDIR|XDG_\w+|BENCH_\w+|TEMPORAL_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|PIP_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_\w+|(HTTPS?|NO|ALL)_PROXY|NODE_USE_ENV_PROXY)$/i;

function workerEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const passed = Object.entries(environment).filter(([name]) => PASSED_ON.test(name));
  return Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""]));
}
