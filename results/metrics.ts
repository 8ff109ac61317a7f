import type { RunRecord } from "./record.ts";
import {
  clusteredRate,
  type Estimate,
  meanFraction,
  meanOf,
  medianOf,
  passAtK,
  passHatK,
} from "./statistics.ts";

type Rate<Name extends string> = Record<Name | `${Name}_low` | `${Name}_high`, number | null>;

/**
 * One row of results: a (system, arm) on one tier, or on tier `all`. Rates are fractions 0–1 with their 95 % interval;
 * null is "not measured", never 0.
 *
 * Denominators. `n` is every cell of the group; `infrastructure` of them could not be graded, `graded` could
 * (n = graded + infrastructure). All rates are over n: an infrastructure failure counts as failed and is shown apart
 * (the same as SWE-bench 5).
 */
export type Group = {
  system: string;
  arm: string;
  tier: string;
  n: number;
  graded: number;
  infrastructure: number;
  /** Mean agent-visible steps of graded runs. */
  steps_mean: number | null;
  /** Sums over all n runs of the roles that set up; evaluation and distillation are not the agent's (`NOT_SETUP`). */
  tokens_input: number | null;
  tokens_output: number | null;
  /** Measured cost of all n runs and all roles; null when no model was called, and when no call had a price. */
  cost_usd: number | null;
  /** Medians over graded runs. */
  wall_seconds_median: number | null;
  working_seconds_median: number | null;
} & Rate<"ebsr"> &
  Rate<"essr"> &
  Rate<"essr_collected"> &
  Rate<"pass_rate"> &
  Rate<"self_claim">;

/** Roles whose tokens are never part of the setup's (metrics.md: setup and evaluation tokens are never mixed). */
const NOT_SETUP: ReadonlySet<string> = new Set(["prosecutor", "judge", "distiller"]);

const TIERS = ["low", "medium", "high"];

/**
 * Groups of the records that count (one per cell): per (system, arm) first tier `all`, then its tiers in the order low,
 * medium, high, others by name. Records without a tier are in `all` only.
 */
export function summarise(records: readonly RunRecord[]): Group[] {
  return byArm(records).flatMap((ofArm) => [
    groupOf(ofArm, "all", ofArm),
    ...breakdown(ofArm, (record) => record.tier, TIERS),
  ]);
}

/** The groups of one (system, arm) by any property (tier, area …), in the given order, then by name. */
export function breakdown(
  ofArm: readonly RunRecord[],
  property: (record: RunRecord) => string | null,
  order: readonly string[] = [],
): Group[] {
  const parts = Map.groupBy(ofArm, property);
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...parts.keys()]
    .filter((name) => name !== null)
    .sort((a, b) => rank(a) - rank(b) || compareText(a, b))
    .map((name) => groupOf(parts.get(name) ?? [], name, ofArm));
}

/** Records of each (system, arm), ordered by system, then arm. */
export function byArm(records: readonly RunRecord[]): RunRecord[][] {
  return [...Map.groupBy(records, (record) => `${record.system}\n${record.arm}`).entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, ofArm]) => ofArm);
}

function groupOf(records: readonly RunRecord[], tier: string, ofArm: readonly RunRecord[]): Group {
  const [first] = ofArm;
  if (first === undefined) throw new Error("a group needs at least one record");
  const graded = records.filter((record) => record.validity === "valid");
  return {
    system: first.system,
    arm: first.arm,
    tier,
    n: records.length,
    graded: graded.length,
    ...rate(
      "ebsr",
      shareOf(records, (record) => record.ebsr),
    ),
    ...rate(
      "essr",
      meanPerRepository(records, (record) => record.essr),
    ),
    ...rate("essr_collected", meanPerRepository(records, passedOfCollected)),
    ...rate("pass_rate", passRate(records, ofArm)),
    ...rate("self_claim", selfClaim(records, ofArm)),
    infrastructure: records.length - graded.length,
    steps_mean: meanOf(graded.map((record) => record.steps)),
    tokens_input: setupTokens(records, "input"),
    tokens_output: setupTokens(records, "output"),
    cost_usd: costOf(records),
    wall_seconds_median: medianOf(graded.map((record) => record.wall_seconds)),
    working_seconds_median: medianOf(graded.map((record) => record.working_seconds)),
  };
}

/** N_pass / N_collected of a run whose task has no gold (its `essr` is null); 0 when nothing was collected or tested. */
export function passedOfCollected(record: RunRecord): number | null {
  if (record.essr !== null) return null;
  const collected = record.collection?.count ?? 0;
  return collected === 0 ? 0 : Math.min(1, (record.tests?.passed ?? 0) / collected);
}

/**
 * SetupX's pass rate: share of n found not guilty (no charge, or all dismissed); guilty and timeout fail, and so does a
 * run that never came to adjudication. Null when no run of the arm was adjudicated.
 */
function passRate(records: readonly RunRecord[], ofArm: readonly RunRecord[]): Estimate | null {
  if (ofArm.every((record) => record.verdict === null)) return null;
  return shareOf(records, (record) => record.verdict === "not_guilty");
}

/** Share of n where the agent said that it is done; a run that ended without a word made no claim. Null: it never says. */
function selfClaim(records: readonly RunRecord[], ofArm: readonly RunRecord[]): Estimate | null {
  if (ofArm.every((record) => record.self_claim === null)) return null;
  return shareOf(records, (record) => record.self_claim === true);
}

function shareOf(records: readonly RunRecord[], holds: (record: RunRecord) => boolean): Estimate | null {
  return clusteredRate(
    [...byTask(records).values()].map((runs) => ({ successes: runs.filter(holds).length, n: runs.length })),
  );
}

/** Mean over repositories of a repository's mean over its repeats; runs where the value is null stay out. */
function meanPerRepository(
  records: readonly RunRecord[],
  measure: (record: RunRecord) => number | null,
): Estimate | null {
  const means = [...byTask(records).values()]
    .map((runs) => meanOf(runs.map(measure).filter((value) => value !== null)))
    .filter((value) => value !== null);
  return meanFraction(means);
}

export function byTask(records: readonly RunRecord[]): Map<string, RunRecord[]> {
  return Map.groupBy(records, (record) => record.task);
}

/** Sum over the set-up roles; null when none of the runs called a model in such a role. */
export function setupTokens(records: readonly RunRecord[], kind: "input" | "output"): number | null {
  const usages = records.flatMap((record) =>
    Object.entries(record.tokens).flatMap(([role, usage]) => (NOT_SETUP.has(role) ? [] : [usage[kind]])),
  );
  return usages.length === 0 ? null : usages.reduce((sum, tokens) => sum + tokens, 0);
}

function costOf(records: readonly RunRecord[]): number | null {
  const called = records.some(
    ({ tokens, cost }) =>
      Object.keys(tokens).length > 0 || cost.measured_usd > 0 || cost.unmeasured_calls > 0,
  );
  const isUnmeasured = records.every(({ cost }) => cost.measured_usd === 0);
  if (isUnmeasured && records.some(({ cost }) => cost.unmeasured_calls > 0)) return null;
  return called ? records.reduce((sum, record) => sum + record.cost.measured_usd, 0) : null;
}

function rate<Name extends string>(name: Name, estimate: Estimate | null): Rate<Name> {
  return {
    [name]: estimate?.value ?? null,
    [`${name}_low`]: estimate?.low ?? null,
    [`${name}_high`]: estimate?.high ?? null,
  } as Rate<Name>;
}

/** What repeats of the same cells show: chance of at least one (pass@k) and of all (pass^k) of k runs being built. */
export interface Repeats {
  system: string;
  arm: string;
  k: number;
  /** Repositories with at least k runs. */
  repositories: number;
  ebsr_pass_at_k: number;
  ebsr_pass_hat_k: number;
}

/** One row per (system, arm) and k = 2 … most repeats; empty without repeats. Means over repositories with k runs. */
export function summariseRepeats(records: readonly RunRecord[]): Repeats[] {
  return byArm(records).flatMap((ofArm) => {
    const counts = [...byTask(ofArm).values()].map((runs) => ({
      n: runs.length,
      c: runs.filter((run) => run.ebsr).length,
    }));
    const most = Math.max(...counts.map(({ n }) => n));
    return Array.from({ length: most - 1 }, (_, index) => repeatsAt(ofArm, counts, index + 2));
  });
}

function repeatsAt(ofArm: readonly RunRecord[], counts: { n: number; c: number }[], k: number): Repeats {
  const enough = counts.filter(({ n }) => n >= k);
  return {
    system: ofArm[0]?.system ?? "",
    arm: ofArm[0]?.arm ?? "",
    k,
    repositories: enough.length,
    ebsr_pass_at_k: meanOf(enough.map(({ n, c }) => passAtK(n, c, k) ?? 0)) ?? 0,
    ebsr_pass_hat_k: meanOf(enough.map(({ n, c }) => passHatK(n, c, k) ?? 0)) ?? 0,
  };
}

/** Order by code point, the same in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
