import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkflowBundle } from "@temporalio/worker";
import { type Seen, type Simulation, simulatedActivities } from "../../scripts/benchmark/simulated.ts";
import { bundleWorkflows } from "../../workers/bundle.ts";
import { GENERAL_QUEUE, hostQueue, openingQueue } from "../../workflows/policies.ts";
import { testTemporal } from "../support/temporal.ts";

Runtime.install({ logger: new DefaultLogger("ERROR") });

let bundle: Promise<WorkflowBundle> | undefined;

/** Serves the real workflows with simulated activities on a namespace of its own while `work` runs. */
export async function withSimulation<T>(
  simulation: Simulation,
  work: (client: Client, seen: Seen) => Promise<T>,
): Promise<T> {
  bundle ??= bundleWorkflows();
  const { connection: options, namespace } = await testTemporal();
  const connection = await NativeConnection.connect(options);
  const { activities, seen } = simulatedActivities(simulation);
  const shared = { connection, namespace, activities, maxConcurrentActivityTaskExecutions: 50 };
  const general = await Worker.create({ ...shared, taskQueue: GENERAL_QUEUE, workflowBundle: await bundle });
  const host = await Worker.create({ ...shared, taskQueue: hostQueue("simulated") });
  const opening = await Worker.create({ ...shared, taskQueue: openingQueue("simulated") });
  const running = [general.run(), host.run(), opening.run()];
  const client = new Client({ connection: await Connection.connect(options), namespace });
  try {
    return await work(client, seen);
  } finally {
    general.shutdown();
    host.shutdown();
    opening.shutdown();
    await Promise.all(running);
    await client.connection.close();
    await connection.close();
  }
}
