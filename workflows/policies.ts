import type { ActivityOptions } from "@temporalio/workflow";
import type { Budget } from "./types.ts";

/** Every timeout and retry of an activity, in one place. Times are in milliseconds or Temporal's duration strings. */

/**
 * All activities are idempotent by their ids, so a lost worker costs a retry and nothing else. Failures with a cause
 * of the table are not retried here: the run decides by the table whether to make a new attempt.
 */
const retry = {
  initialInterval: 500,
  backoffCoefficient: 2,
  maximumInterval: "10 seconds",
  maximumAttempts: 40,
};

/** How soon a dead worker is noticed. */
const HEARTBEAT = "15 seconds";

/** A host queue that nobody serves for this long has lost its sandboxes. */
const HOST_GONE = "15 minutes";

export const GENERAL_QUEUE = "bench";

/** Calls wait here for their turn at an endpoint, however long: never in the place of a record that is to be written. */
export const MODEL_QUEUE = "bench-model";

export function hostQueue(host: string): string {
  return `bench-host-${host}`;
}

/**
 * Opening waits for room, on a cluster for long: it has a queue of its own, so that those who wait never take the place
 * of those who work and then give their room back.
 */
export function openingQueue(host: string): string {
  return `${hostQueue(host)}-opening`;
}

/** Stands for a host where pods hold the sandboxes: any worker with the cluster's credentials reaches them. */
export const KUBERNETES_HOST = "kubernetes";

export const general: ActivityOptions = { startToCloseTimeout: "2 minutes", retry };

/** A net: each call has its own time and patience (the plan's settings), and a step may need several. */
const MODEL_SECONDS = 4 * 3_600;

export const asking: ActivityOptions = {
  taskQueue: MODEL_QUEUE,
  startToCloseTimeout: MODEL_SECONDS * 1_000,
  heartbeatTimeout: HEARTBEAT,
  retry,
};

export function onHost(host: string, seconds: number): ActivityOptions {
  return {
    taskQueue: hostQueue(host),
    scheduleToStartTimeout: HOST_GONE,
    startToCloseTimeout: (seconds + 120) * 1_000,
    heartbeatTimeout: HEARTBEAT,
    // A cancelled run closes its sandbox only when nothing is still making or using it.
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    retry,
  };
}

/** Fetching a repository and waiting for room have ceilings of their own (the plan's settings); this one is a net. */
const OPEN_SECONDS = 4 * 3_600;

export function opening(host: string): ActivityOptions {
  return { ...onHost(host, OPEN_SECONDS), taskQueue: openingQueue(host) };
}

export const FREEZE_SECONDS = 600;

export const REAP_SECONDS = 600;

export const CLOSE_SECONDS = 300;

export const STATIC_SECONDS = 900;

/** Looks that a verifier may take at an environment before its silence counts as a failure. */
export const VERIFIER_LOOKS = 30;

/** Longest life of one attempt's sandbox, in seconds: its stages' budgets plus the machinery between them. */
export function sandboxLife(budget: Budget): number {
  return Math.ceil(
    Math.max(budget.wall, budget.replay + budget.collect + budget.tests * 2 + STATIC_SECONDS) + 1_800,
  );
}

/** Seconds to wait before attempt `next` after an infrastructure failure. */
export function attemptPause(next: number): number {
  return Math.min(5 * 2 ** (next - 2), 120);
}
