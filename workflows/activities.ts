import type { Action, Move, Observation, StepKey } from "./moves.ts";
import type {
  ArtifactRef,
  AttemptFacts,
  AttemptKey,
  Budget,
  CellPage,
  CollectionResult,
  OpenedSandbox,
  ReaperInput,
  ReaperReport,
  ReplayResult,
  RunOutcome,
  SandboxKey,
  SandboxRef,
  StaticResult,
  TestResult,
} from "./types.ts";

/** Activities of the general task queue: any worker may run them. */
export interface GeneralActivities {
  /** The machine that will hold the attempt's sandboxes; its name is part of the host task queue's name. */
  claimHost(key: AttemptKey): Promise<{ host: string }>;
  /** The system's next action; needs the trajectory and no sandbox. `about`: whom it asks, where a system has several. */
  decide(input: StepKey & { about: string }): Promise<Action>;
  /** The next cells of a sweep, from the index `from` on, that still need a run. */
  nextCells(input: { folder: string; from: number; limit: number }): Promise<CellPage>;
  /** Why the sweep can't pay for one more cell of a model's arm while the `running` ones go on, or null. */
  refuseCell(input: { folder: string; running: string[] }): Promise<string | null>;
  /** Rewrites the sweep's derived files (records.jsonl, summary.*, report.html) from its run folders. */
  writeResults(input: { folder: string }): Promise<void>;
  publishRecord(facts: AttemptFacts): Promise<RunOutcome>;
}

/** Activities that touch a sandbox or the machine's caches: they run on the queue of the host that holds it. */
export interface HostActivities {
  /** Gets or creates this sandbox of the attempt, with the repository in it (fetched if need be). */
  openSandbox(input: SandboxKey): Promise<OpenedSandbox>;
  /** Runs the commands of the trajectory that succeeded once more, in a sandbox that takes a lost one's place. */
  rebuildSandbox(input: AttemptKey & { sandbox: SandboxRef; seconds: number }): Promise<void>;
  closeSandbox(input: AttemptKey & { sandbox: SandboxRef }): Promise<void>;
  /** Destroys what a failed or cancelled `openSandbox` left; its reference is known to nobody. */
  discardSandbox(input: SandboxKey): Promise<void>;
  act(input: StepKey & { sandbox: SandboxRef; move: Move; seconds: number }): Promise<Observation>;
  /** Destroys the sandboxes of this holder whose owner is gone. */
  reapSandboxes(input: ReaperInput): Promise<ReaperReport>;
  freezeArtifact(key: AttemptKey): Promise<ArtifactRef>;
  replayArtifact(
    input: AttemptKey & { sandbox: SandboxRef; artifact: ArtifactRef; seconds: number },
  ): Promise<ReplayResult>;
  collectTests(input: AttemptKey & { sandbox: SandboxRef; budget: Budget }): Promise<CollectionResult>;
  runTests(input: AttemptKey & { sandbox: SandboxRef; budget: Budget }): Promise<TestResult>;
  checkStatically(input: AttemptKey & { sandbox: SandboxRef }): Promise<StaticResult>;
}
