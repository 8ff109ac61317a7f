import { NativeConnection, type State, Worker } from "@temporalio/worker";
import type { Deps } from "../activities/deps.ts";
import { generalActivities, hostActivities } from "../activities/index.ts";
import { MODEL_QUEUE } from "../workflows/policies.ts";
import { workflowBundle } from "./bundle.ts";
import { queuesOf, type Role } from "./roles.ts";
import type { TemporalConnectionOptions } from "./temporal-connection.ts";
import type { Tuning } from "./tuning.ts";

export interface WorkerOptions extends Tuning {
  connection: TemporalConnectionOptions;
  namespace: string;
  deps: Deps;
  roles: readonly Role[];
}

export interface Workers {
  /** Ends after a shutdown; throws when one of the workers fails, the others having been stopped. */
  run(): Promise<void>;
  shutdown(): void;
  states(): { queue: string; state: State }[];
  /** Throws when the Temporal server does not answer within `milliseconds`. */
  ping(milliseconds: number): Promise<void>;
}

/** Seconds after the grace in which a cancelled activity must end; one that hangs must not keep the process. */
const FORCE_SECONDS = 9;

/** The workers of one process, one per task queue, on one connection. */
export async function createWorkers(options: WorkerOptions): Promise<Workers> {
  const connection = await NativeConnection.connect(options.connection);
  const workers: { queue: string; worker: Worker }[] = [];
  try {
    for (const role of new Set(options.roles)) {
      for (const queue of queuesOf(role, options.deps.host)) {
        workers.push({ queue, worker: await createWorker(role, queue, connection, options) });
      }
    }
  } catch (error) {
    await connection.close();
    throw error;
  }
  const shutdown = () => {
    for (const { worker } of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  return {
    run: async () => {
      try {
        await runAll(
          workers.map(({ worker }) => worker),
          shutdown,
        );
      } finally {
        await connection.close();
      }
    },
    shutdown,
    states: () => workers.map(({ queue, worker }) => ({ queue, state: worker.getState() })),
    ping: async (milliseconds) => {
      await connection.withDeadline(Date.now() + milliseconds, () =>
        connection.workflowService.getSystemInfo({}),
      );
    },
  };
}

async function createWorker(
  role: Role,
  taskQueue: string,
  connection: NativeConnection,
  options: WorkerOptions,
): Promise<Worker> {
  const shared = {
    connection,
    namespace: options.namespace,
    taskQueue,
    maxHeartbeatThrottleInterval: "2 seconds",
    shutdownGraceTime: options.graceSeconds * 1_000,
    shutdownForceTime: (options.graceSeconds + FORCE_SECONDS) * 1_000,
    maxConcurrentActivityTaskExecutions: options.activities,
  } as const;
  if (role !== "general") return Worker.create({ ...shared, activities: hostActivities(options.deps) });
  const activities = generalActivities(options.deps, options.roles.includes("host"));
  if (taskQueue === MODEL_QUEUE) return Worker.create({ ...shared, activities });
  return Worker.create({
    ...shared,
    workflowBundle: await workflowBundle(),
    maxCachedWorkflows: options.cachedWorkflows,
    activities,
  });
}

/** The connection may only be closed when all have ended, so the first failure stops the others and is then thrown. */
async function runAll(workers: readonly Worker[], shutdown: () => void): Promise<void> {
  const ends = await Promise.allSettled(
    workers.map((worker) =>
      worker.run().catch((error: unknown) => {
        shutdown();
        throw error;
      }),
    ),
  );
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
