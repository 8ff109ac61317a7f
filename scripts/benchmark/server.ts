import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  type Worker,
} from "@temporalio/worker";
import { ensureTemporal, stopTemporal } from "../stack/temporal.ts";
import { undone } from "./undo.ts";

export interface BenchmarkServer {
  client: Client;
  connection: NativeConnection;
  namespace: string;
}

/** A Temporal server on an empty database, ended and removed afterwards. */
export async function withServer<T>(work: (server: BenchmarkServer) => Promise<T>): Promise<T> {
  quieten();
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-benchmark-"));
  const leave = new AbortController();
  const starting = ensureTemporal({
    stateFolder,
    signal: leave.signal,
    progress: (line) => console.error(line),
  });
  const use = async () => {
    const service = await starting;
    const connection = await NativeConnection.connect(service.connection);
    const client = new Client({
      connection: await Connection.connect(service.connection),
      namespace: service.namespace,
    });
    try {
      return await work({ client, connection, namespace: service.namespace });
    } finally {
      await client.connection.close();
      await connection.close();
    }
  };
  return undone(use, async () => {
    // A server that is just being started would outlive the folder.
    leave.abort();
    await Promise.allSettled([starting]);
    await stopTemporal({ stateFolder });
    await rm(stateFolder, { recursive: true, force: true });
  });
}

let quiet = false;

/** The SDK takes one logger per process. Its own signal handlers would stop workers that measures still use. */
function quieten(): void {
  if (quiet) return;
  quiet = true;
  const filter = makeTelemetryFilterString({ core: "ERROR", other: "ERROR" });
  Runtime.install({
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter } },
    shutdownSignals: [],
  });
}

/** Runs the workers while `work` goes on. */
export function allRunning<T>(workers: readonly Worker[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = workers;
  return first === undefined ? work() : first.runUntil(() => allRunning(others, work));
}
