import { Worker } from "@temporalio/worker";
import { bundleWorkflows } from "../../workers/bundle.ts";
import { GENERAL_QUEUE, hostQueue, openingQueue } from "../../workflows/policies.ts";
import type { Progress } from "../../workflows/sweep.ts";
import { allRunning, type BenchmarkServer } from "./server.ts";
import { simulatedActivities, simulatedSweep } from "./simulated.ts";

export interface Scale {
  runs: number;
  steps: number;
  seconds: number;
  peak_rss_mib: number;
  /** Events of the longest history, of the sweep (each of its continuations) or of a run. */
  longest_history: number;
}

/** A whole sweep of simulated runs in one worker process: does it end, in how much memory, with how long histories? */
export async function measureScale(
  server: BenchmarkServer,
  { runs, steps, parallel }: { runs: number; steps: number; parallel: number },
): Promise<Scale> {
  const { activities, seen } = simulatedActivities({ cells: runs, steps });
  const shared = { connection: server.connection, namespace: server.namespace, activities };
  const general = await Worker.create({
    ...shared,
    taskQueue: GENERAL_QUEUE,
    workflowBundle: await bundleWorkflows(),
    maxCachedWorkflows: 400,
  });
  const host = await Worker.create({ ...shared, taskQueue: hostQueue("simulated") });
  const opening = await Worker.create({ ...shared, taskQueue: openingQueue("simulated") });
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 500);
  const said = setInterval(() => console.error(`  ${seen.published.length}/${runs} runs`), 30_000);
  try {
    return await allRunning([general, host, opening], async () => {
      const from = performance.now();
      const progress: Progress = await server.client.workflow.execute("sweep", {
        workflowId: "scale",
        taskQueue: GENERAL_QUEUE,
        args: [simulatedSweep("scale", parallel)],
      });
      if (progress.done !== runs) throw new Error(`${progress.done} of ${runs} runs ended`);
      const seconds = (performance.now() - from) / 1_000;
      return {
        runs,
        steps,
        seconds,
        peak_rss_mib: peak / 2 ** 20,
        longest_history: await longestHistory(server),
      };
    });
  } finally {
    clearInterval(sampler);
    clearInterval(said);
  }
}

async function longestHistory(server: BenchmarkServer): Promise<number> {
  let longest = 0;
  for await (const { historyLength } of server.client.workflow.list({
    query: "WorkflowType = 'sweep' OR WorkflowType = 'run'",
  })) {
    longest = Math.max(longest, historyLength ?? 0);
  }
  return longest;
}
