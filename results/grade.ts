import { CAUSES, type Cause } from "./causes.ts";
import type { RunRecord } from "./record.ts";

/** What is known of a finished attempt when it is graded. Null: the stage was not reached. */
export interface RunFacts {
  language: string;
  /** Number of the task's gold tests (N_verified); null when it has none. */
  goldVerified: number | null;
  /** `exit` null: the replay did not end by itself (time limit), which is a failure. */
  replay: { exit: number | null } | null;
  /** Null for a language whose tests are not collected (build success only). */
  collection: { ok: boolean; count: number; errors: number } | null;
  tests: {
    passed: number;
    failed: number;
    errors: number;
    gold: { verified: number; passed: number } | null;
  } | null;
  verdict: RunRecord["verdict"];
  /** How the setup stage ended, when not of the agent's own accord. */
  agentCause: Cause | null;
  /** The failure that is not the agent's and that ended the attempt. */
  infrastructure: Cause | null;
}

export type Grade = Pick<RunRecord, "validity" | "cause" | "ebsr" | "essr" | "gold">;

/**
 * The one decision from facts to a record's `validity`, `cause`, `ebsr`, `essr` and `gold`.
 *
 * Order of causes:
 * 1. infrastructure beats all: the run counts as failed, its ESSR is 0 where the task has gold tests;
 * 2. no artifact was replayed: the agent's own cause, else artifact_failed;
 * 3. artifact_failed: replay exit is not 0;
 * 4. collection_failed: collector not ok, no test, or any collection error;
 * 5. tests_failed: a gold test did not pass; without gold, any failed or errored test;
 * 6. guilty, by verdict;
 * 7. the agent's own cause (agent_budget …), when what it left is good all the same; else null.
 *
 * A stage that must have been reached and has no result is the verifier's fault, never the agent's.
 */
export function grade(facts: RunFacts): Grade {
  const infrastructure = facts.infrastructure ?? missingStage(facts);
  const built = infrastructure === null && isBuilt(facts);
  const gold = goldOf(facts, infrastructure !== null);
  const essr = gold !== null ? gold.passed / gold.verified : buildOnly(facts) ? Number(built) : null;
  if (infrastructure !== null) {
    if (CAUSES[infrastructure].graded) throw new Error(`${infrastructure} is not an infrastructure cause`);
    return { validity: "infrastructure", cause: infrastructure, ebsr: false, essr, gold };
  }
  return { validity: "valid", cause: causeOf(facts, built, gold), ebsr: built, essr, gold };
}

/**
 * EBSR of one run: replay exit 0 and collector ok with at least one test and no error (Graph2Env; Repo2Run's signal).
 * Where nothing is collected (not Python), build success alone (RAT).
 */
function isBuilt(facts: RunFacts): boolean {
  if (facts.replay?.exit !== 0) return false;
  if (facts.collection === null) return buildOnly(facts);
  return facts.collection.ok && facts.collection.count >= 1 && facts.collection.errors === 0;
}

/** Languages other than Python without gold tests and without collected tests: ESSR is build success (RAT). */
function buildOnly(facts: RunFacts): boolean {
  return facts.language !== "python" && facts.goldVerified === null && facts.collection === null;
}

function goldOf(facts: RunFacts, failed: boolean): Grade["gold"] {
  const verified = facts.goldVerified ?? facts.tests?.gold?.verified ?? null;
  if (verified === null) return null;
  return { verified, passed: failed ? 0 : Math.min(facts.tests?.gold?.passed ?? 0, verified) };
}

function missingStage(facts: RunFacts): Cause | null {
  if (facts.replay?.exit !== 0) return null;
  if (facts.collection === null) return buildOnly(facts) ? null : "verifier_fault";
  return isBuilt(facts) && facts.tests === null ? "verifier_fault" : null;
}

function causeOf(facts: RunFacts, built: boolean, gold: Grade["gold"]): Cause | null {
  if (facts.replay === null) return facts.agentCause ?? "artifact_failed";
  if (facts.replay.exit !== 0) return "artifact_failed";
  if (!built) return "collection_failed";
  if (
    gold === null
      ? facts.tests !== null && facts.tests.failed + facts.tests.errors > 0
      : gold.passed < gold.verified
  )
    return "tests_failed";
  if (facts.verdict === "guilty") return "guilty";
  return facts.agentCause;
}
