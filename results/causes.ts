/**
 * The one table of causes. It decides, everywhere, what is retried, what is graded and whose fault it is.
 * It imports nothing, so that workflow code may use it as well (the only file outside `workflows/` that may).
 *
 * - `retry`: a new attempt is made, at most `retries` times per cell for this cause; then the run counts as failed.
 * - `graded`: the run's own result counts (whatever it left is replayed and tested).
 * - `agent`: the failure is the agent's.
 * - `pauses`: the sweep stops starting new cells until a person continues it.
 */
export const CAUSES = {
  agent_gave_up: { retries: 0, graded: true, agent: true, pauses: false },
  agent_budget: { retries: 0, graded: true, agent: true, pauses: false },
  agent_timeout: { retries: 0, graded: true, agent: true, pauses: false },
  artifact_failed: { retries: 0, graded: true, agent: true, pauses: false },
  collection_failed: { retries: 0, graded: true, agent: true, pauses: false },
  tests_failed: { retries: 0, graded: true, agent: true, pauses: false },
  guilty: { retries: 0, graded: true, agent: true, pauses: false },
  model_refused_output: { retries: 0, graded: true, agent: true, pauses: false },
  source_vanished: { retries: 0, graded: false, agent: false, pauses: false },
  source_mismatch: { retries: 0, graded: false, agent: false, pauses: false },
  source_too_large: { retries: 0, graded: false, agent: false, pauses: false },
  source_unavailable: { retries: 3, graded: false, agent: false, pauses: false },
  sandbox_lost: { retries: 3, graded: false, agent: false, pauses: false },
  sandbox_oom: { retries: 1, graded: false, agent: false, pauses: false },
  image_pull: { retries: 3, graded: false, agent: false, pauses: false },
  capacity: { retries: 10, graded: false, agent: false, pauses: false },
  model_rate_limited: { retries: 10, graded: false, agent: false, pauses: false },
  model_unavailable: { retries: 5, graded: false, agent: false, pauses: false },
  /** A fault of the harness's own code outside verification. */
  harness_fault: { retries: 1, graded: false, agent: false, pauses: false },
  verifier_fault: { retries: 2, graded: false, agent: false, pauses: false },
  quota_exhausted: { retries: 0, graded: false, agent: false, pauses: true },
  credentials: { retries: 0, graded: false, agent: false, pauses: true },
} as const satisfies Record<string, CausePolicy>;

export interface CausePolicy {
  readonly retries: number;
  readonly graded: boolean;
  readonly agent: boolean;
  readonly pauses: boolean;
}

export type Cause = keyof typeof CAUSES;

export const CAUSE_NAMES = Object.keys(CAUSES) as Cause[];

export function isCause(name: unknown): name is Cause {
  return typeof name === "string" && Object.hasOwn(CAUSES, name);
}
