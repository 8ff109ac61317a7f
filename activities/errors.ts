import type { Cause } from "../results/causes.ts";

/**
 * A failure with its cause from the table (results/causes.ts). Activities turn it into an ApplicationFailure whose
 * `type` is the cause, so that the workflow decides by type and never by prose.
 */
export class CausedError extends Error {
  override readonly name = "CausedError";
  readonly failure: Cause;

  constructor(failure: Cause, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}
