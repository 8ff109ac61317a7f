import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from "@temporalio/workflow";
import { type Cause, isCause } from "../results/causes.ts";

export interface Failure {
  cause: Cause;
  detail: string;
}

/**
 * The cause of a failed activity: its type when an activity named one, a lost sandbox when its host stopped
 * answering, else a fault of the harness. Cancellation is rethrown: it is no failure.
 */
export function failureOf(error: unknown): Failure {
  if (isCancellation(error)) throw error;
  const inner = error instanceof ActivityFailure ? error.cause : error;
  if (inner instanceof ApplicationFailure && isCause(inner.type)) {
    return { cause: inner.type, detail: firstLine(inner.message) };
  }
  if (inner instanceof TimeoutFailure) {
    return { cause: "sandbox_lost", detail: `no answer from the sandbox's host (${inner.timeoutType})` };
  }
  return {
    cause: "harness_fault",
    detail: firstLine(inner instanceof Error ? inner.message : String(inner)),
  };
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, 500);
}
