import type { SweepPlan } from "../benchmarks/sweep-plan.ts";
import { grade } from "../results/grade.ts";
import { type RunRecord, runRecord, SCHEMA_VERSION } from "../results/record.ts";
import type { AttemptFacts, RunOutcome } from "../workflows/types.ts";
import { openAttempt } from "./attempt.ts";
import { readCalls } from "./model/journal.ts";
import { spendingOf } from "./model/spending.ts";
import { readRecord, writeRecordOnce } from "./store/sweep-folder.ts";

/** Computes the attempt's record from its facts and writes it, once; a repeated call tells the first one's outcome. */
export async function publishRecord(facts: AttemptFacts): Promise<RunOutcome> {
  const record = await recordOf(facts);
  const published = (await writeRecordOnce(facts, record)) ? record : ((await readRecord(facts)) ?? record);
  return {
    cell: facts.cell,
    attempt: facts.attempt,
    validity: published.validity,
    cause: published.cause,
    ebsr: published.ebsr,
  };
}

async function recordOf(facts: AttemptFacts): Promise<RunRecord> {
  const { plan, suite, task } = await openAttempt(facts);
  const { setup, replay, collection, tests, statics } = facts;
  const ids = await suite.goldIds(task);
  const goldVerified = ids?.length ?? (task.gold && "count" in task.gold ? task.gold.count : null);
  const graded = grade({
    language: task.language,
    goldVerified,
    replay,
    collection,
    tests,
    verdict: null,
    agentCause: setup?.cause ?? null,
    infrastructure: facts.failure?.cause ?? null,
  });
  return runRecord.parse({
    schema_version: SCHEMA_VERSION,
    sweep: facts.sweep,
    cell: facts.cell,
    attempt: facts.attempt,
    suite: plan.lock.suite,
    task: task.id,
    revision: facts.source?.revision ?? null,
    system: facts.arm.system,
    arm: facts.arm.id,
    tier: task.tier,
    area: task.area,
    ...graded,
    detail: facts.failure?.detail ?? replay?.detail ?? collection?.detail ?? tests?.detail ?? null,
    notes: notesOf(facts),
    self_claim: setup?.claim ?? null,
    replay: replay && { exit: replay.exit, seconds: replay.seconds },
    collection: collection && { ok: collection.ok, count: collection.count, errors: collection.errors },
    tests: tests && {
      passed: tests.passed,
      failed: tests.failed,
      skipped: tests.skipped,
      errors: tests.errors,
      flaky: tests.flaky,
      seconds: tests.seconds,
    },
    static: statics && { missing_imports: statics.missing_imports, pip_check: statics.pip_check },
    verdict: null,
    ...(await spendingOfAttempt(facts, plan)),
    steps: setup?.steps ?? 0,
    wall_seconds: setup?.wallSeconds ?? 0,
    working_seconds: setup?.workingSeconds ?? 0,
    sandbox: {
      driver: facts.sandboxDriver ?? plan.lock.driver,
      base_digest: plan.lock.base.digest,
      snapshots: facts.snapshots ?? "none",
      losses: facts.losses,
      left: facts.left,
    },
    artifact: facts.artifact?.digest ?? null,
    harness: { version: plan.lock.harness_version, commit: plan.settings.harness_commit },
  } satisfies RunRecord);
}

async function spendingOfAttempt(
  facts: AttemptFacts,
  { lock }: SweepPlan,
): Promise<Pick<RunRecord, "tokens" | "cost">> {
  const price = lock.models[facts.arm.model ?? ""]?.price ?? null;
  const { tokens, ...cost } = spendingOf(await readCalls(facts), price);
  return { tokens, cost };
}

function notesOf({ source, statics }: AttemptFacts): string[] {
  const notes = (source?.notes ?? []).map((note) => `source: ${note}`);
  return statics?.detail ? [...notes, `static checks: ${statics.detail}`] : notes;
}
