import { z } from "zod";
import { type Group, type Repeats, summarise, summariseRepeats } from "./metrics.ts";
import { type RunRecord, SCHEMA_VERSION } from "./record.ts";

const count = z.int().nonnegative();
const fraction = z.number().min(0).max(1);
const measured = z.number().nonnegative().nullable();
const rate = fraction.nullable();

/** The order of these keys is the order of the columns of `summary.csv`. */
export const groupSchema = z.strictObject({
  system: z.string(),
  arm: z.string(),
  tier: z.string(),
  n: count,
  graded: count,
  ebsr: rate,
  ebsr_low: rate,
  ebsr_high: rate,
  essr: rate,
  essr_low: rate,
  essr_high: rate,
  essr_collected: rate,
  essr_collected_low: rate,
  essr_collected_high: rate,
  pass_rate: rate,
  pass_rate_low: rate,
  pass_rate_high: rate,
  self_claim: rate,
  self_claim_low: rate,
  self_claim_high: rate,
  infrastructure: count,
  steps_mean: measured,
  tokens_input: measured,
  tokens_output: measured,
  cost_usd: measured,
  wall_seconds_median: measured,
  working_seconds_median: measured,
}) satisfies z.ZodType<Group>;

const repeatsSchema = z.strictObject({
  system: z.string(),
  arm: z.string(),
  k: count,
  repositories: count,
  ebsr_pass_at_k: fraction,
  ebsr_pass_hat_k: fraction,
}) satisfies z.ZodType<Repeats>;

/** The shape of `summary.json`; `repeats` is empty where every repository was run once. */
export const summarySchema = z.strictObject({
  schema_version: z.literal(SCHEMA_VERSION),
  sweep: z.string(),
  suite: z.string(),
  groups: z.array(groupSchema),
  repeats: z.array(repeatsSchema),
});

export type Summary = z.infer<typeof summarySchema>;

/** Summary of the records that count (one per cell) of one sweep. */
export function buildSummary(sweep: string, suite: string, records: readonly RunRecord[]): Summary {
  return {
    schema_version: SCHEMA_VERSION,
    sweep,
    suite,
    groups: summarise(records),
    repeats: summariseRepeats(records),
  };
}
