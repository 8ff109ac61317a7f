import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../../activities/store/lock.ts";
import { type ProcessIdentity, processState } from "../../activities/store/process-identity.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import {
  checkTemporal,
  SEARCH_ATTRIBUTES,
  type TemporalConnectionOptions,
  temporalConnectionOptions,
} from "../../workers/temporal-connection.ts";
import { bindablePort } from "./port.ts";
import { daemonFiles, logTail, runningDaemon, startDaemon, stopProcess } from "./process.ts";
import { ownServerName } from "./server-name.ts";
import { ensureTemporalBinary } from "./temporal-binary.ts";
import { pause, waitHealthy } from "./temporal-health.ts";

export interface TemporalOptions {
  stateFolder: string;
  /** host:port of a server to use; without it the state folder's own server is found or started. */
  address?: string;
  /** Default: `default`. */
  namespace?: string;
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

export interface TemporalService {
  address: string;
  namespace: string;
  /**
   * Names server and namespace as the owner of sandboxes. Another address of the same server changes nothing, nor does
   * the loss of the own server's database: what that leaves is still this state folder's to clear.
   */
  server: string;
  /** For `Connection.connect` and `NativeConnection.connect`. */
  connection: TemporalConnectionOptions;
  /** The state folder's own server. */
  owned: boolean;
  /** True when this call started it. */
  started: boolean;
  log: string | null;
}

const NAME = "temporal";
const HOST = "127.0.0.1";
const START_ATTEMPTS = 3;
const KEEP_MS = 1_000;
const PORT_MS = 3_000;

/**
 * A Temporal server that answers: the one at `address`, else the state folder's own (one per folder, whoever calls at
 * once), which survives its caller, keeps its port, and is restarted on the same database after a crash.
 * The database forgoes fsync (synchronous=off): a killed process loses nothing, a power cut may.
 */
export async function ensureTemporal(options: TemporalOptions): Promise<TemporalService> {
  const namespace = options.namespace ?? "default";
  if (options.address) return checkGiven(options.address, namespace);
  const folder = temporalFolder(options.stateFolder);
  await mkdir(folder, { recursive: true });
  const lock = join(folder, "start.lock");
  return withLock(
    lock,
    () => ensureOwn(options, folder, namespace),
    options.signal ? { signal: options.signal } : {},
  );
}

/** Ends the state folder's own server; false when none ran. */
export async function stopTemporal(options: {
  stateFolder: string;
  graceSeconds?: number;
}): Promise<boolean> {
  const folder = temporalFolder(options.stateFolder);
  // Without a look first, the lock's folder would be made where nothing ever ran.
  if ((await runningDaemon(folder, NAME)) === null) return false;
  return withLock(join(folder, "start.lock"), async () => {
    const identity = await runningDaemon(folder, NAME);
    if (identity === null) return false;
    await stopProcess(identity, options.graceSeconds ?? 10);
    return true;
  });
}

/**
 * Starts the own server again whenever it has ended, until `signal` aborts (then returns). `restarted` is told each
 * time. A given address is somebody else's to keep: returns at once. `checkWanted` throws to leave it ended.
 */
export async function keepTemporal(
  options: TemporalOptions & { signal: AbortSignal; checkWanted?: () => Promise<void> },
  restarted: (service: TemporalService) => void,
): Promise<void> {
  if (options.address) return;
  const folder = temporalFolder(options.stateFolder);
  while (!options.signal.aborted) {
    if ((await runningDaemon(folder, NAME)) === null) {
      await options.checkWanted?.();
      const service = await ensureTemporal(options);
      if (service.started) restarted(service);
    }
    await pause(KEEP_MS, options.signal);
  }
}

/** The state folder's own server as it is now, without starting anything. */
export async function temporalStatus(
  stateFolder: string,
): Promise<{ pid: number; address: string; log: string } | null> {
  const folder = temporalFolder(stateFolder);
  const [identity, port] = [await runningDaemon(folder, NAME), await storedPort(folder)];
  if (identity === null || port === null) return null;
  return { pid: identity.pid, address: `${HOST}:${port}`, log: daemonFiles(folder, NAME).log };
}

async function checkGiven(address: string, namespace: string): Promise<TemporalService> {
  const connection = temporalConnectionOptions(address);
  const server = await checkTemporal(connection, namespace).catch((error: Error) => {
    throw new UsageError(
      `Temporal at ${address} (namespace ${namespace}) can't be used: ${error.message}. ` +
        "Remedy: correct --address / BENCH_ADDRESS, or leave it out to use the embedded server",
      { cause: error },
    );
  });
  return { address, namespace, server, connection, owned: false, started: false, log: null };
}

async function ensureOwn(
  options: TemporalOptions,
  folder: string,
  namespace: string,
): Promise<TemporalService> {
  const { log } = daemonFiles(folder, NAME);
  let identity = await runningDaemon(folder, NAME);
  let started = false;
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(folder, identity !== null);
    if (identity === null) {
      identity = await startServer(options, folder, port, namespace);
      started = true;
    }
    const address = `${HOST}:${port}`;
    const failure = await waitHealthy(identity, HOST, port, namespace, options.signal);
    if (failure === null) {
      const server = await ownServerName(options.stateFolder, namespace);
      return { address, namespace, server, connection: { address }, owned: true, started, log };
    }
    if (processState(identity) !== "dead") {
      throw new Error(
        `the embedded Temporal server (pid ${identity.pid}) does not answer at ${address}: ${failure}. ` +
          `See ${log}. Remedy: pnpm bench down, then the same command again`,
      );
    }
    // It ended while starting; most likely somebody took the port in between, so another one is tried.
    if (attempt === START_ATTEMPTS) {
      throw new Error(`the embedded Temporal server does not start; see ${log}: ${await logTail(log, 500)}`);
    }
    identity = null;
  }
}

async function startServer(
  options: TemporalOptions,
  folder: string,
  port: number,
  namespace: string,
): Promise<ProcessIdentity> {
  const command = await ensureTemporalBinary(options);
  options.progress?.(`starting the embedded Temporal server on ${HOST}:${port}`);
  const args = [
    ...["server", "start-dev", "--headless", "--ip", HOST, "--port", String(port), "--namespace", namespace],
    // Relative to the daemon's folder: the server takes the name for a URI, in which ? and % are no part of a path.
    ...["--db-filename", "bench.db"],
    ...["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=off"],
    ...SEARCH_ATTRIBUTES.flatMap((name) => ["--search-attribute", `${name}=Keyword`]),
  ];
  // Its own HOME: neither the user's Temporal profiles nor TEMPORAL_* variables are meant for this server.
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder };
  const { identity } = await startDaemon({ folder, name: NAME, command, args, environment });
  return identity;
}

/** The folder's port: the stored one if it is free or its server runs, else a new one, stored. */
async function choosePort(folder: string, running: boolean): Promise<number> {
  const stored = await storedPort(folder);
  if (stored !== null && (running || (await becomesFree(stored)))) return stored;
  const port = await bindablePort(HOST, 0);
  if (port === null) throw new Error(`no free port on ${HOST}`);
  await writeFileAtomically(join(folder, "port"), `${port}\n`);
  return port;
}

/** A server killed a moment ago still holds its port until its last thread is gone. */
async function becomesFree(port: number): Promise<boolean> {
  const until = performance.now() + PORT_MS;
  while ((await bindablePort(HOST, port)) === null) {
    if (performance.now() > until) return false;
    await sleep(100);
  }
  return true;
}

async function storedPort(folder: string): Promise<number | null> {
  try {
    const port = Number.parseInt(await readFile(join(folder, "port"), "utf8"), 10);
    return Number.isInteger(port) && port > 0 ? port : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function temporalFolder(stateFolder: string): string {
  return join(resolve(stateFolder), NAME);
}
