import { Client, Connection, WorkflowNotFoundError } from "@temporalio/client";
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from "@temporalio/common";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import type { Stage } from "../../workflows/run.ts";
import type { Progress, SweepInput } from "../../workflows/sweep.ts";
import type { TemporalService } from "../stack/temporal.ts";

const SUITE = defineSearchAttributeKey("BenchSuite", SearchAttributeType.KEYWORD);
const SWEEP = defineSearchAttributeKey("BenchSweep", SearchAttributeType.KEYWORD);

export async function connect(service: Pick<TemporalService, "connection" | "namespace">): Promise<Client> {
  const connection = await Connection.connect(service.connection);
  return new Client({ connection, namespace: service.namespace });
}

export type SweepState = "running" | "ended" | "absent";

export async function sweepState(client: Client, id: string): Promise<SweepState> {
  try {
    const { status } = await client.workflow.getHandle(id).describe();
    return status.name === "RUNNING" ? "running" : "ended";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return "absent";
    throw error;
  }
}

/** Starts the sweep's workflow, or attaches to the one that runs. */
export async function startSweep(client: Client, folder: string, plan: SweepPlan): Promise<void> {
  const input: SweepInput = {
    folder,
    sweep: plan.sweep,
    suite: plan.lock.suite,
    budget: plan.lock.budget,
    parallel: plan.settings.parallel,
  };
  await client.workflow.start("sweep", {
    workflowId: plan.sweep,
    taskQueue: GENERAL_QUEUE,
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
    workflowIdConflictPolicy: "USE_EXISTING",
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SUITE, value: plan.lock.suite },
      { key: SWEEP, value: plan.sweep },
    ]),
    args: [input],
  });
}

/** The reason of a pause by Ctrl-C: the same command line again goes on, while a pause by hand stays. */
export const INTERRUPTED = "interrupted";

export async function unpauseInterrupted(client: Client, id: string): Promise<void> {
  const { paused } = await progressOf(client, id);
  if (paused === INTERRUPTED) await client.workflow.getHandle(id).signal("unpause");
}

export function changeParallel(client: Client, id: string, parallel: number): Promise<number> {
  return client.workflow.getHandle(id).executeUpdate<number, [number]>("parallel", { args: [parallel] });
}

export function progressOf(client: Client, id: string): Promise<Progress> {
  return client.workflow.getHandle(id).query<Progress>("progress");
}

export function stageOf(client: Client, id: string, cell: string): Promise<Stage> {
  return client.workflow.getHandle(`${id}/${cell}`).query<Stage>("stage");
}

/** Ids of the sweeps that run now. */
export async function runningSweeps(client: Client): Promise<string[]> {
  const ids: string[] = [];
  for await (const found of client.workflow.list({
    query: "WorkflowType = 'sweep' AND ExecutionStatus = 'Running'",
  })) {
    ids.push(found.workflowId);
  }
  return ids;
}
