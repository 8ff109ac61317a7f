import type { RawOutcome, RawResult } from "./report.ts";

/** What came of one test id. `flaky`: failed first, passed in the second look. */
export interface Outcome {
  id: string;
  outcome: RawOutcome;
  seconds: number;
  detail: string | null;
  flaky: boolean;
}

/** Tests known to pass in a right environment: their ids, or only their number. */
export type GoldTests = { ids: readonly string[] } | { count: number };

/** From best to worst: of several tests with one id, the worst counts. */
const RANK: readonly RawOutcome[] = ["passed", "xpassed", "xfailed", "skipped", "failed", "error"];

/** Adds results to the outcomes so far; an id that was there keeps its worse outcome. */
export function addResults(outcomes: Map<string, Outcome>, results: readonly RawResult[]): void {
  for (const { id, outcome, seconds, text } of results) {
    const known = outcomes.get(id);
    if (known === undefined) {
      outcomes.set(id, { id, outcome, seconds, detail: text, flaky: false });
    } else if (RANK.indexOf(outcome) > RANK.indexOf(known.outcome)) {
      outcomes.set(id, { ...known, outcome, seconds: known.seconds + seconds, detail: text });
    } else {
      outcomes.set(id, { ...known, seconds: known.seconds + seconds });
    }
  }
}

/** An expected failure counts as skipped, even when it passed: pytest's own count and the gold lists have it apart. */
export function isPass(outcome: RawOutcome): boolean {
  return outcome === "passed";
}

export function isFailure(outcome: RawOutcome): boolean {
  return outcome === "failed" || outcome === "error";
}

/** The ids that get a second look: failures, those that are gold first, at most `limit`. */
export function secondLookIds(outcomes: Iterable<Outcome>, gold: GoldTests | null, limit: number): string[] {
  const known = new Set(gold !== null && "ids" in gold ? gold.ids : []);
  const failures = [...outcomes].filter(({ outcome }) => isFailure(outcome)).map(({ id }) => id);
  return [...failures.filter((id) => known.has(id)), ...failures.filter((id) => !known.has(id))].slice(
    0,
    limit,
  );
}

/** Marks as flaky, and passed, what passed in the second look; the rest keeps its first outcome. */
export function withSecondLook(
  outcomes: ReadonlyMap<string, Outcome>,
  second: ReadonlyMap<string, Outcome>,
): Map<string, Outcome> {
  return new Map(
    [...outcomes].map(([id, first]) => {
      const again = second.get(id);
      const flaky = again !== undefined && isFailure(first.outcome) && isPass(again.outcome);
      return [id, flaky ? { ...first, outcome: again.outcome, flaky } : first];
    }),
  );
}

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  errors: number;
  flaky: number;
}

export function tally(outcomes: Iterable<Outcome>): Tally {
  const counts: Tally = { passed: 0, failed: 0, skipped: 0, errors: 0, flaky: 0 };
  for (const { outcome, flaky } of outcomes) {
    if (isPass(outcome)) counts.passed += 1;
    else if (outcome === "failed") counts.failed += 1;
    else if (outcome === "error") counts.errors += 1;
    else counts.skipped += 1;
    if (flaky) counts.flaky += 1;
  }
  return counts;
}

/** N_verified and N_pass of metrics.md: by id, or by number and then capped at it. */
export function grade(
  outcomes: ReadonlyMap<string, Outcome>,
  gold: GoldTests | null,
): { verified: number; passed: number } | null {
  if (gold === null) return null;
  if ("count" in gold) {
    return { verified: gold.count, passed: Math.min(gold.count, tally(outcomes.values()).passed) };
  }
  const ids = [...new Set(gold.ids)];
  const passed = ids.filter((id) => {
    const found = outcomes.get(id);
    return found !== undefined && isPass(found.outcome);
  });
  return { verified: ids.length, passed: passed.length };
}
