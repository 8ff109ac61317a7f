import { z } from "zod";
import { CAUSE_NAMES, type Cause } from "./causes.ts";

/** Version of the record and summary shapes that scripts may rely on. */
export const SCHEMA_VERSION = 1;

const count = z.int().nonnegative();
const seconds = z.number().nonnegative();

const cause = z.enum(CAUSE_NAMES as [Cause, ...Cause[]]);

const tokenUsage = z.object({ input: count, cached: count, output: count, reasoning: count });

/**
 * One run's result: one line of `records.jsonl`.
 * What was not measured is null, never 0; rates are fractions 0–1; times are seconds.
 */
export const runRecord = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  sweep: z.string(),
  cell: z.string(),
  attempt: z.int().positive(),
  suite: z.string(),
  task: z.string(),
  /** Commit of a git source, version of a release; null where the suite pins none. */
  revision: z.string().nullable(),
  system: z.string(),
  arm: z.string(),
  tier: z.string().nullable(),
  area: z.string().nullable(),
  /** Whether the run counts as a measurement of the system, apart from what it achieved. */
  validity: z.enum(["valid", "infrastructure"]),
  cause: cause.nullable(),
  /** One line for people: what went wrong, never needed to decide anything. */
  detail: z.string().nullable(),
  /** What else a reader may want to know: parts of the source that are missing, checks that could not be made. */
  notes: z.array(z.string()),
  /** The agent's own word that the environment is ready. */
  self_claim: z.boolean().nullable(),
  replay: z.object({ exit: z.int().nullable(), seconds }).nullable(),
  collection: z.object({ ok: z.boolean(), count, errors: count }).nullable(),
  tests: z
    .object({ passed: count, failed: count, skipped: count, errors: count, flaky: count, seconds })
    .nullable(),
  /** Gold tests known (N_verified) and of these passed (N_pass, metrics.md). */
  gold: z.object({ verified: count, passed: count }).nullable(),
  ebsr: z.boolean(),
  essr: z.number().min(0).max(1).nullable(),
  static: z.object({ missing_imports: count.nullable(), pip_check: z.boolean().nullable() }).nullable(),
  verdict: z.enum(["not_guilty", "guilty", "timeout"]).nullable(),
  tokens: z.record(z.string(), tokenUsage),
  cost: z.object({
    measured_usd: z.number().nonnegative(),
    /** Calls without usage or price. Their cost is beside the sum, never in it. */
    unmeasured_calls: count,
    /** Requests that may have been charged without an answer having come, after a crash or a broken connection. */
    unsettled_calls: count.default(0),
    /** A rough price of those; null when it can't be told. */
    unsettled_usd: z.number().nonnegative().nullable().default(0),
  }),
  steps: count,
  wall_seconds: seconds,
  working_seconds: seconds,
  sandbox: z.object({
    driver: z.string(),
    base_digest: z.string(),
    snapshots: z.string(),
    /** Sandboxes lost on the way; the attempt went on in the next one. */
    losses: z.array(z.object({ purpose: z.enum(["setup", "replay"]), cause, detail: z.string() })),
    /** Sandboxes that could not be removed, and why. */
    left: z.array(z.string()),
  }),
  /** sha256 digest of the artifact, or null when the agent left none. */
  artifact: z.string().nullable(),
  harness: z.object({ version: z.string(), commit: z.string().nullable() }),
});

export type RunRecord = z.infer<typeof runRecord>;
