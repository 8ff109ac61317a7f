import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { bundleWorkflows } from "../../workers/bundle.ts";
import { GENERAL_QUEUE, hostQueue } from "../../workflows/policies.ts";
import type { RunInput } from "../../workflows/types.ts";
import type { BenchmarkServer } from "./server.ts";
import { AMPLE, simulatedActivities } from "./simulated.ts";

const ROUNDS = 3;

export interface Orchestration {
  ours_steps_per_second: number;
  bare_steps_per_second: number;
  /** Ours over bare, each the best of its rounds. */
  ratio: number;
}

/** Steps per second of runs against a bare loop of two activities a step, in one process, in alternating rounds. */
export async function measureOrchestration(
  server: BenchmarkServer,
  { runs, steps }: { runs: number; steps: number },
): Promise<Orchestration> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await bareRate(server, runs, steps, round));
    ours.push(await ourRate(server, runs, steps, round));
  }
  const [best, bareBest] = [Math.max(...ours), Math.max(...bare)];
  return { ours_steps_per_second: best, bare_steps_per_second: bareBest, ratio: best / bareBest };
}

async function bareRate(
  server: BenchmarkServer,
  runs: number,
  steps: number,
  round: number,
): Promise<number> {
  const worker = await Worker.create({
    connection: server.connection,
    namespace: server.namespace,
    taskQueue: "bare",
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("bare-workflow.ts", import.meta.url)),
      logger: quiet,
    }),
    activities: { first: async () => undefined, second: async () => undefined },
  });
  return worker.runUntil(async () => {
    const from = performance.now();
    await Promise.all(
      Array.from({ length: runs }, (_, index) =>
        server.client.workflow.execute("bare", {
          workflowId: `bare-${round}-${index}`,
          taskQueue: "bare",
          args: [steps],
        }),
      ),
    );
    return (runs * steps) / ((performance.now() - from) / 1_000);
  });
}

async function ourRate(server: BenchmarkServer, runs: number, steps: number, round: number): Promise<number> {
  const { activities } = simulatedActivities({ cells: runs, steps });
  const shared = { connection: server.connection, namespace: server.namespace, activities };
  const general = await Worker.create({
    ...shared,
    taskQueue: GENERAL_QUEUE,
    workflowBundle: await bundleWorkflows(),
  });
  const host = await Worker.create({ ...shared, taskQueue: hostQueue("simulated") });
  return general.runUntil(
    host.runUntil(async () => {
      const from = performance.now();
      await Promise.all(
        Array.from({ length: runs }, (_, index) =>
          server.client.workflow.execute("run", {
            workflowId: `ours-${round}-${index}`,
            taskQueue: GENERAL_QUEUE,
            args: [runInput(`ours-${round}`, index)],
          }),
        ),
      );
      return (runs * steps) / ((performance.now() - from) / 1_000);
    }),
  );
}

function runInput(sweep: string, index: number): RunInput {
  return {
    folder: "/nowhere",
    sweep,
    cell: `task-${index}--nop`,
    task: `task-${index}`,
    language: "python",
    arm: { id: "nop", system: "nop", model: null, options: {} },
    budget: AMPLE,
    attemptsBefore: 0,
  };
}

const nothing = () => undefined;
const quiet = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: console.error,
};
