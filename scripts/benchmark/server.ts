import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { ensureTemporal, stopTemporal } from "../stack/temporal.ts";

export interface BenchmarkServer {
  client: Client;
  connection: NativeConnection;
  namespace: string;
}

/** A Temporal server on an empty database, ended and removed afterwards. */
export async function withServer<T>(work: (server: BenchmarkServer) => Promise<T>): Promise<T> {
  quieten();
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-benchmark-"));
  try {
    const service = await ensureTemporal({ stateFolder, progress: (line) => console.error(line) });
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
  } finally {
    await stopTemporal({ stateFolder });
    await rm(stateFolder, { recursive: true, force: true });
  }
}

let quiet = false;

/** The SDK takes one logger per process. */
function quieten(): void {
  if (!quiet) Runtime.install({ logger: new DefaultLogger("ERROR") });
  quiet = true;
}
