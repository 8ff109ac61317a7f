import { ApplicationFailure, activityInfo, CancelledFailure, cancellationSignal } from "@temporalio/activity";
import { CausedError } from "./errors.ts";

/** An unknown fault is tried again this often, since it may be the machine's; after that it is the harness's own. */
const TRIES_OF_UNKNOWN_FAULTS = 4;

/**
 * Wraps activities so that every failure leaves with a type that workflows can decide on: a CausedError keeps its
 * cause and is not retried by Temporal, an unknown fault is retried a few times and then becomes `harness_fault`.
 */
export function withCauses<T extends object>(activities: T): T {
  const wrapped = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await activity(...args);
      } catch (error) {
        throw failureOf(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

function failureOf(error: unknown): unknown {
  if (cancellationSignal().aborted) return interruption(error);
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof CausedError) {
    return ApplicationFailure.create({
      type: error.failure,
      message: error.message,
      nonRetryable: true,
      cause: error,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return ApplicationFailure.create({
    type: "harness_fault",
    message,
    nonRetryable: activityInfo().attempt >= TRIES_OF_UNKNOWN_FAULTS,
    ...(error instanceof Error ? { cause: error } : {}),
  });
}

/** A worker that shuts down hands its activities to the next one: that is a retry, not a cancelled run. */
function interruption(error: unknown): unknown {
  const reason: unknown = cancellationSignal().reason;
  if (reason instanceof CancelledFailure && reason.message === "WORKER_SHUTDOWN") {
    return ApplicationFailure.create({ type: "worker_shutdown", message: "the worker is shutting down" });
  }
  return reason instanceof CancelledFailure ? reason : error;
}
