import type { SweepPlan } from "../benchmarks/sweep-plan.ts";
import type { Cause } from "../results/causes.ts";
import type { AgentCause } from "./moves.ts";

/**
 * The plain values that travel through workflow history. All are small: anything that can grow (scripts, outputs,
 * trajectories, lists of tests) lies in the store and is named here by its sha256 digest or by its run folder.
 */

/** A system with its model and options, under a stable id. */
export interface Arm {
  id: string;
  system: string;
  model: string | null;
  options: Readonly<Record<string, string | number | boolean>>;
}

/** Seconds, except `steps`; what calls of models may spend is looked after where they are made. */
export interface Budget {
  /** Setup stage, everything included. */
  wall: number;
  /** Setup stage without waiting for capacity or rate limits. */
  working: number;
  steps: number;
  /** One command of the agent. */
  command: number;
  replay: number;
  collect: number;
  tests: number;
  /** One test. */
  test: number;
}

/** One attempt of one cell; every id of a side effect is derived from it. `folder` is the sweep's folder. */
export interface AttemptKey {
  folder: string;
  sweep: string;
  cell: string;
  attempt: number;
}

/** One sandbox of an attempt: `generation` counts those of its purpose that were lost before it. */
export interface SandboxKey extends AttemptKey {
  purpose: Purpose;
  generation: number;
}

export interface RunInput {
  folder: string;
  sweep: string;
  cell: string;
  task: string;
  language: string;
  arm: Arm;
  budget: Budget;
  /** Attempts that earlier workflows of this cell used up (resume without the Temporal database). */
  attemptsBefore: number;
}

export interface SandboxRef {
  driver: "local" | "docker" | "kubernetes";
  id: string;
  /** The machine that holds it; sandbox activities of local and docker sandboxes run on that host's task queue. */
  host: string;
}

export interface OpenedSandbox {
  sandbox: SandboxRef;
  source: SourceRef;
  /** How the driver keeps snapshots, for the record. */
  snapshots: string;
}

/** A fetched source in the machine's cache. */
export interface SourceRef {
  /** sha256 over kind and pin (address and commit; file's sha256; a folder's content), the same on every machine. */
  digest: string;
  revision: string | null;
  bytes: number;
  /** What was left out or is missing, for readers of the results. */
  notes: readonly string[];
}

/** What the system hands over to be replayed: the digest of a script, and whether it holds any command. */
export interface ArtifactRef {
  digest: string;
  commands: number;
}

export interface SetupOutcome {
  steps: number;
  claim: boolean | null;
  /** Null when the agent finished of its own accord. */
  cause: AgentCause | null;
  detail: string | null;
  wallSeconds: number;
  workingSeconds: number;
}

export interface ReplayResult {
  exit: number | null;
  seconds: number;
  detail: string | null;
}

export interface CollectionResult {
  ok: boolean;
  count: number;
  errors: number;
  /** Digest of the collector's report (test ids, errors, output). */
  report: string;
  detail: string | null;
}

export interface TestResult {
  passed: number;
  failed: number;
  skipped: number;
  errors: number;
  /** Failed first, passed in the second look; counted in `passed`. */
  flaky: number;
  seconds: number;
  gold: { verified: number; passed: number } | null;
  /** Digest of the outcome list. */
  report: string;
  detail: string | null;
}

export interface StaticResult {
  missing_imports: number | null;
  pip_check: boolean | null;
  /** Why something was not measured. */
  detail: string | null;
}

/** A sandbox that was lost while it was in use; the attempt went on in the next one. */
export interface SandboxLoss {
  purpose: Purpose;
  cause: Cause;
  detail: string;
}

export type Purpose = "setup" | "replay";

/** Everything that a record is computed from; stages that were not reached are null. */
export interface AttemptFacts extends AttemptKey {
  task: string;
  arm: Arm;
  sandboxDriver: string | null;
  snapshots: string | null;
  source: SourceRef | null;
  losses: SandboxLoss[];
  /** Sandboxes that could not be removed, and why. */
  left: string[];
  setup: SetupOutcome | null;
  artifact: ArtifactRef | null;
  replay: ReplayResult | null;
  collection: CollectionResult | null;
  tests: TestResult | null;
  statics: StaticResult | null;
  /** A failure that is not the agent's, by the table of causes. */
  failure: { cause: Cause; detail: string } | null;
}

/** Some cells of a sweep that still need a run; `next` is the index to ask from next, or null at the end. */
export interface CellPage {
  cells: CellRef[];
  next: number | null;
  total: number;
  /** Cells before `next` that need no run any more, counted from the asked index. */
  settled: number;
}

export interface CellRef {
  cell: string;
  task: string;
  language: string;
  tier: string | null;
  arm: Arm;
  attemptsBefore: number;
}

/** What a finished attempt tells its sweep. */
export interface RunOutcome {
  cell: string;
  attempt: number;
  validity: "valid" | "infrastructure";
  cause: Cause | null;
  ebsr: boolean;
}

/** What of a sweep's plan says who provides its sandboxes. */
export interface DriverPlan {
  lock: Pick<SweepPlan["lock"], "driver" | "pods">;
  settings: Pick<SweepPlan["settings"], "engine" | "cluster" | "base_location">;
}

export interface ReaperInput {
  /** Id of the schedule that starts this reaper. */
  schedule: string;
  host: string;
  plan: DriverPlan;
}

export interface ReaperReport {
  destroyed: number;
  left: number;
  /** Nothing is left to watch, and the schedule is gone. */
  over: boolean;
}
