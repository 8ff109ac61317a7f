import { NativeConnection, Worker } from "@temporalio/worker";
import type { Deps } from "../activities/deps.ts";
import { generalActivities, hostActivities } from "../activities/index.ts";
import { GENERAL_QUEUE, hostQueue } from "../workflows/policies.ts";
import { bundleWorkflows } from "./bundle.ts";
import type { TemporalConnectionOptions } from "./temporal-connection.ts";

export interface WorkerOptions {
  connection: TemporalConnectionOptions;
  namespace: string;
  deps: Deps;
  activities: number;
}

/**
 * The workers of one machine: the general queue (workflows and activities that any machine may run) and the queue of
 * this host's sandboxes.
 */
export async function createWorkers(
  options: WorkerOptions,
): Promise<{ run(): Promise<void>; shutdown(): void }> {
  const connection = await NativeConnection.connect(options.connection);
  const shared = {
    connection,
    namespace: options.namespace,
    maxHeartbeatThrottleInterval: "2 seconds",
    shutdownGraceTime: "1 second",
    shutdownForceTime: "10 seconds",
  } as const;
  const general = await Worker.create({
    ...shared,
    taskQueue: GENERAL_QUEUE,
    workflowBundle: await bundleWorkflows(),
    maxCachedWorkflows: 400,
    activities: generalActivities(options.deps),
    maxConcurrentActivityTaskExecutions: options.activities,
  });
  const host = await Worker.create({
    ...shared,
    taskQueue: hostQueue(options.deps.host),
    activities: hostActivities(options.deps),
    maxConcurrentActivityTaskExecutions: options.activities,
  });
  return {
    run: async () => {
      try {
        await Promise.all([general.run(), host.run()]);
      } finally {
        await connection.close();
      }
    },
    shutdown: () => {
      for (const worker of [general, host]) if (worker.getState() === "RUNNING") worker.shutdown();
    },
  };
}
