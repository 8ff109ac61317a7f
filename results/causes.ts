/**
 * The one table of causes. It decides, everywhere, what is retried, what is graded and whose fault it is.
 * It imports nothing, so that workflow code may use it as well (the only file outside `workflows/` that may).
 *
 * - `retry`: a new attempt is made, at most `retries` times per cell for this cause; then the run counts as failed.
 * - `graded`: the run's own result counts (whatever it left is replayed and tested).
 * - `agent`: the failure is the agent's.
 * - `pauses`: the sweep stops starting new cells until a person continues it.
 * - `resumes`: only the sandbox is gone: the attempt goes on in a new one, in which the surviving commands are replayed.
 */
export const CAUSES = {
  agent_gave_up: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  agent_budget: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  agent_timeout: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  artifact_failed: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  collection_failed: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  tests_failed: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  guilty: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  model_refused_output: { retries: 0, graded: true, agent: true, pauses: false, resumes: false },
  source_vanished: { retries: 0, graded: false, agent: false, pauses: false, resumes: false },
  source_mismatch: { retries: 0, graded: false, agent: false, pauses: false, resumes: false },
  source_too_large: { retries: 0, graded: false, agent: false, pauses: false, resumes: false },
  source_unavailable: { retries: 3, graded: false, agent: false, pauses: false, resumes: false },
  sandbox_lost: { retries: 3, graded: false, agent: false, pauses: false, resumes: true },
  sandbox_oom: { retries: 1, graded: false, agent: false, pauses: false, resumes: false },
  sandbox_evicted: { retries: 3, graded: false, agent: false, pauses: false, resumes: true },
  sandbox_preempted: { retries: 3, graded: false, agent: false, pauses: false, resumes: true },
  /** The node ran out of disk, for whoever's sake. */
  disk_pressure: { retries: 3, graded: false, agent: false, pauses: false, resumes: true },
  node_lost: { retries: 3, graded: false, agent: false, pauses: false, resumes: true },
  /** Over the sandbox's own limit, which the kernel does not enforce on this driver. */
  sandbox_disk: { retries: 1, graded: false, agent: false, pauses: false, resumes: false },
  image_pull: { retries: 3, graded: false, agent: false, pauses: false, resumes: false },
  capacity: { retries: 10, graded: false, agent: false, pauses: false, resumes: false },
  model_rate_limited: { retries: 10, graded: false, agent: false, pauses: false, resumes: false },
  model_unavailable: { retries: 5, graded: false, agent: false, pauses: false, resumes: false },
  /** A fault of the harness's own code outside verification. */
  harness_fault: { retries: 1, graded: false, agent: false, pauses: false, resumes: false },
  verifier_fault: { retries: 2, graded: false, agent: false, pauses: false, resumes: false },
  quota_exhausted: { retries: 0, graded: false, agent: false, pauses: true, resumes: false },
  credentials: { retries: 0, graded: false, agent: false, pauses: true, resumes: false },
} as const satisfies Record<string, CausePolicy>;

export interface CausePolicy {
  readonly retries: number;
  readonly graded: boolean;
  readonly agent: boolean;
  readonly pauses: boolean;
  readonly resumes: boolean;
}

export type Cause = keyof typeof CAUSES;

export const CAUSE_NAMES = Object.keys(CAUSES) as Cause[];

export function isCause(name: unknown): name is Cause {
  return typeof name === "string" && Object.hasOwn(CAUSES, name);
}
