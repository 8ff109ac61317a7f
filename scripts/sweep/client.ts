import {
  Client,
  Connection,
  QueryRejectedError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
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

export type WorkflowState = "running" | "ended" | "absent";

export async function workflowState(client: Client, id: string): Promise<WorkflowState> {
  try {
    const { status } = await client.workflow.getHandle(id).describe();
    return status.name === "RUNNING" ? "running" : "ended";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return "absent";
    throw error;
  }
}

/** Starts the sweep's workflow; false when it runs already. */
export async function startSweep(client: Client, folder: string, plan: SweepPlan): Promise<boolean> {
  const input: SweepInput = {
    folder,
    sweep: plan.sweep,
    suite: plan.lock.suite,
    budget: plan.lock.budget,
    parallel: plan.settings.parallel,
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
  const { paused } = await progressOf(client, id);
  if (paused === INTERRUPTED) await client.workflow.getHandle(id).signal("unpause");
}

export function changeParallel(client: Client, id: string, parallel: number): Promise<number> {
  return client.workflow.getHandle(id).executeUpdate<number, [number]>("parallel", { args: [parallel] });
}

export function progressOf(client: Client, id: string): Promise<Progress> {
  return client.workflow.getHandle(id).query<Progress>("progress");
}

/** How long a run is waited for that nobody serves; other calls than a query would be answered at once. */
const ASK_MS = 10_000;

/**
 * Where a run is; null when nobody answers now: it has just been started, is closed or gone, or no worker serves it.
 * Throws when the answer is a fault.
 */
export async function stageOf(client: Client, run: string): Promise<Stage | null> {
  try {
    const query = () => client.workflow.getHandle(run).query<Stage>("stage");
    return await client.withDeadline(Date.now() + ASK_MS, query);
  } catch (error) {
    const ended = error instanceof WorkflowNotFoundError || error instanceof QueryRejectedError;
    if (ended || isUnreachable(error)) return null;
    throw new Error(`the run ${run} does not say where it is: ${(error as Error).message}`, { cause: error });
  }
}

/** A server that restarts, or a query that no worker answers in time. Everything else is a fault. */
export function isUnreachable(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let at: unknown = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    const code = (at as { code?: unknown }).code;
    // gRPC: CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED (busy), FAILED_PRECONDITION (no worker polls), INTERNAL (the
    // connection broke in the middle of an answer), UNAVAILABLE. NOT_FOUND is no such case.
    if (typeof code === "number" && [1, 4, 8, 9, 13, 14].includes(code)) return true;
  }
  return false;
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
