import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { median } from "simple-statistics";
import { bundleWorkflows } from "../../workers/bundle.ts";
import { GENERAL_QUEUE, hostQueue, openingQueue } from "../../workflows/policies.ts";
import type { RunInput } from "../../workflows/types.ts";
import { allRunning, type BenchmarkServer } from "./server.ts";
import { AMPLE, simulatedActivities } from "./simulated.ts";

const ROUNDS = 5;
/** Two lengths of run, far apart, so that what a step costs can be told from what a run costs. */
const LENGTHS = { short: 10, long: 70 } as const;

export interface Orchestration {
  /** Steps per second that longer runs add, the median of the rounds. */
  ours_steps_per_second: number;
  bare_steps_per_second: number;
  /** Median of the rounds' ratios, each of neighbours in time; to be kept at 0.8 or more. */
  ratio: number;
  /** What a run costs besides its steps, as so many bare steps of its own server: sandboxes, replay, tests, record. */
  run_in_bare_steps: number;
}

interface Round {
  ours: number;
  bare: number;
  besides: number;
}

/** Our runs against a bare loop of two activities a step, in one process and in alternating rounds. */
export async function measureOrchestration(server: BenchmarkServer, runs: number): Promise<Orchestration> {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const seconds = { bareShort: 0, oursShort: 0, oursLong: 0, bareLong: 0 };
    seconds.bareShort = await bareSeconds(server, runs, LENGTHS.short, `short-${round}`);
    seconds.oursShort = await ourSeconds(server, runs, LENGTHS.short, `short-${round}`);
    seconds.oursLong = await ourSeconds(server, runs, LENGTHS.long, `long-${round}`);
    seconds.bareLong = await bareSeconds(server, runs, LENGTHS.long, `long-${round}`);
    const steps = runs * (LENGTHS.long - LENGTHS.short);
    const ours = steps / (seconds.oursLong - seconds.oursShort);
    const bare = steps / (seconds.bareLong - seconds.bareShort);
    const besides = ((seconds.oursShort - (runs * LENGTHS.short) / ours) * bare) / runs;
    rounds.push({ ours, bare, besides });
  }
  return {
    ours_steps_per_second: median(rounds.map(({ ours }) => ours)),
    bare_steps_per_second: median(rounds.map(({ bare }) => bare)),
    ratio: median(rounds.map(({ ours, bare }) => ours / bare)),
    run_in_bare_steps: median(rounds.map(({ besides }) => besides)),
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
  const opening = await Worker.create({ ...shared, taskQueue: openingQueue("simulated") });
  return allRunning([general, host, opening], async () => {
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
  });
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
