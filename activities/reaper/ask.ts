import { type Client, QueryRejectedError, WorkflowNotFoundError } from "@temporalio/client";
import type { Stage } from "../../workflows/run.ts";

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
