import { join } from "node:path";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { Budget, TestResult } from "../../workflows/types.ts";
import type { VerifyContext } from "./context.ts";
import { findInterpreter, type Interpreter, noInterpreter } from "./interpreter.ts";
import { junitXml } from "./junit.ts";
import {
  addResults,
  type GoldTests,
  grade,
  type Outcome,
  secondLookIds,
  tally,
  withSecondLook,
} from "./outcomes.ts";
import { noRounds, type Rounds, runRounds } from "./rounds.ts";
import { shortDetail } from "./session.ts";

/** The blob that `TestResult.report` names. */
export interface TestReport {
  schema_version: 1;
  kind: "tests";
  python: string | null;
  pytest: string | null;
  rootdir: string | null;
  outcomes: Outcome[];
  collection_errors: { id: string; text: string | null }[];
  log: string;
}

/** The second look at failures: so many ids, so many seconds. */
const SECOND_LOOK = { ids: 50, seconds: 300, restarts: 5 };
/** How often pytest is started again after a test ended its process; each such test costs itself alone. */
const RESTARTS = 25;

/**
 * Stage 4 of metrics.md: all tests in the replayed sandbox, under the per-test and total limits, then a second look at
 * the failures. `errors` holds tests in error, tests that never came to run, and modules that could not be collected.
 * Writes `junit.xml` into the run folder. Throws `verifier_fault` and `sandbox_lost`.
 */
export async function verifyTests(
  context: VerifyContext,
  budget: Pick<Budget, "tests" | "test">,
  gold: GoldTests | null,
): Promise<TestResult> {
  const interpreter = await findInterpreter({ ...context, prefix: `${context.prefix}-tests` });
  if (interpreter === null) return finish(context, noRounds(), new Map(), gold, noInterpreter(context));
  const first = await runRounds(context, interpreter, {
    name: "tests",
    only: null,
    seconds: budget.tests,
    limit: budget.test,
    restarts: RESTARTS,
  });
  const second = await lookAgain(context, interpreter, first, budget, gold);
  const outcomes = withSecondLook(first.outcomes, second?.outcomes ?? new Map());
  const total = { ...first, seconds: first.seconds + (second?.seconds ?? 0) };
  return finish(context, total, outcomes, gold, first.detail);
}

async function lookAgain(
  context: VerifyContext,
  interpreter: Interpreter,
  first: Rounds,
  budget: Pick<Budget, "tests" | "test">,
  gold: GoldTests | null,
): Promise<Rounds | null> {
  const only = secondLookIds(first.outcomes.values(), gold, SECOND_LOOK.ids);
  const seconds = Math.min(SECOND_LOOK.seconds, Math.floor(budget.tests - first.seconds));
  if (only.length === 0 || seconds < 1) return null;
  const { restarts } = SECOND_LOOK;
  return runRounds(context, interpreter, { name: "again", only, seconds, limit: budget.test, restarts });
}

async function finish(
  context: VerifyContext,
  rounds: Rounds,
  ran: ReadonlyMap<string, Outcome>,
  gold: GoldTests | null,
  detail: string | null,
): Promise<TestResult> {
  const outcomes = new Map(ran);
  addResults(
    outcomes,
    rounds.unrun.map((id) => ({ id, outcome: "error", seconds: 0, text: "never run" })),
  );
  const report: TestReport = {
    schema_version: 1,
    kind: "tests",
    python: rounds.session?.python ?? null,
    pytest: rounds.session?.pytest ?? null,
    rootdir: rounds.session?.rootdir ?? null,
    outcomes: [...outcomes.values()],
    collection_errors: rounds.collectionErrors,
    log: rounds.log,
  };
  await writeFileAtomically(join(context.folder, "junit.xml"), junitXml("pytest", outcomes.values()));
  const counts = tally(outcomes.values());
  return {
    ...counts,
    errors: counts.errors + rounds.collectionErrors.length,
    seconds: rounds.seconds,
    gold: grade(outcomes, gold),
    report: await context.blobs.put(JSON.stringify(report)),
    detail: shortDetail(detail),
  };
}
