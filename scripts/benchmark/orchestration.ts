import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { bundleWorkflows } from "../../workers/bundle.ts";
import { GENERAL_QUEUE, hostQueue } from "../../workflows/policies.ts";
import type { RunInput } from "../../workflows/types.ts";
import type { BenchmarkServer } from "./server.ts";
import { AMPLE, simulatedActivities } from "./simulated.ts";

const ROUNDS = 3;
/** Two lengths of run, so that what a step costs can be told from what a run costs. */
const LENGTHS = { short: 20, long: 60 } as const;

export interface Orchestration {
  /** Steps per second that longer runs add; ours over bare is the ratio to keep at 0.8 or more. */
  ours_steps_per_second: number;
  bare_steps_per_second: number;
  ratio: number;
  /** What a run costs besides its steps, as so many bare steps of its own server: sandboxes, replay, tests, record. */
  run_in_bare_steps: number;
}

/** Our runs against a bare loop of two activities a step, in one process, in alternating rounds; the best of each. */
export async function measureOrchestration(server: BenchmarkServer, runs: number): Promise<Orchestration> {
  const best = { ours: { short: Infinity, long: Infinity }, bare: { short: Infinity, long: Infinity } };
  for (let round = 0; round < ROUNDS; round++) {
    for (const length of ["short", "long"] as const) {
      const name = `${length}-${round}`;
      best.bare[length] = Math.min(best.bare[length], await bareSeconds(server, runs, LENGTHS[length], name));
      best.ours[length] = Math.min(best.ours[length], await ourSeconds(server, runs, LENGTHS[length], name));
    }
  }
  const steps = runs * (LENGTHS.long - LENGTHS.short);
  const ours = steps / (best.ours.long - best.ours.short);
  const bare = steps / (best.bare.long - best.bare.short);
  const besides = best.ours.short - (runs * LENGTHS.short) / ours;
  return {
    ours_steps_per_second: ours,
    bare_steps_per_second: bare,
    ratio: ours / bare,
    run_in_bare_steps: (besides * bare) / runs,
  };
}

async function bareSeconds(
  server: BenchmarkServer,
  runs: number,
  steps: number,
  name: string,
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
          workflowId: `bare-${name}-${index}`,
          taskQueue: "bare",
          args: [steps],
        }),
      ),
    );
    return (performance.now() - from) / 1_000;
  });
}

async function ourSeconds(
  server: BenchmarkServer,
  runs: number,
  steps: number,
  name: string,
): Promise<number> {
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
            workflowId: `ours-${name}-${index}`,
            taskQueue: GENERAL_QUEUE,
            args: [runInput(`ours-${name}`, index)],
          }),
        ),
      );
      return (performance.now() - from) / 1_000;
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
