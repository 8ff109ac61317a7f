import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from "@temporalio/common";
import { isUnreachable } from "../../activities/reaper/ask.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import type { Progress, SweepInput } from "../../workflows/sweep.ts";
import type { TemporalService } from "../stack/temporal.ts";

const SUITE = defineSearchAttributeKey("BenchSuite", SearchAttributeType.KEYWORD);
const SWEEP = defineSearchAttributeKey("BenchSweep", SearchAttributeType.KEYWORD);

export async function connect(service: Pick<TemporalService, "connection" | "namespace">): Promise<Client> {
  const connection = await Connection.connect(service.connection);
  return new Client({ connection, namespace: service.namespace });
}

/** Starts the sweep's workflow; false when it runs already. */
export async function startSweep(client: Client, folder: string, plan: SweepPlan): Promise<boolean> {
  const input: SweepInput = {
    folder,
    sweep: plan.sweep,
    suite: plan.lock.suite,
    budget: plan.lock.budget,
    parallel: plan.settings.parallel,
    models: Object.keys(plan.lock.models).length > 0,
  };
  try {
    await client.workflow.start("sweep", {
      workflowId: plan.sweep,
      taskQueue: GENERAL_QUEUE,
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "FAIL",
      typedSearchAttributes: new TypedSearchAttributes([
        { key: SUITE, value: plan.lock.suite },
        { key: SWEEP, value: plan.sweep },
      ]),
      args: [input],
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** The reason of a pause by Ctrl-C: the same command line again goes on, while a pause by hand stays. */
export const INTERRUPTED = "interrupted";

export async function unpauseInterrupted(client: Client, id: string): Promise<void> {
  const { paused } = await answered(() => progressOf(client, id));
  if (paused === INTERRUPTED) await client.workflow.getHandle(id).signal("unpause");
}

export function changeParallel(client: Client, id: string, parallel: number): Promise<number> {
  return client.workflow.getHandle(id).executeUpdate<number, [number]>("parallel", { args: [parallel] });
}

/** How long a worker that has just been started, or a server that starts again, may take before it answers. */
const ANSWER_MS = 120_000;

/** Asks again while nobody answers; only for what may be asked twice. */
export async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + ANSWER_MS; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnreachable(error) || Date.now() > end) throw error;
      await sleep(500);
    }
  }
}

export function progressOf(client: Client, id: string): Promise<Progress> {
  return client.workflow.getHandle(id).query<Progress>("progress");
}
