import type { Cause } from "../results/causes.ts";
import type { AttemptKey } from "./types.ts";

/** Which part of a turn: a turn that is more than one command numbers its parts from 1; 0 is the turn itself. */
export interface StepKey extends AttemptKey {
  step: number;
  part: number;
}

/** What is done to a sandbox. Texts are named by their digests; `root` is `main` when it is left out. */
export type Move =
  | { kind: "command"; script: string; seconds: number | null; root?: string }
  /** Sets variables and umask for all later commands of the root, and for the tests; they belong to its frame. */
  | { kind: "environment"; values: string; root?: string }
  | { kind: "push"; frame: string }
  | { kind: "pop"; frame: string }
  | { kind: "fork"; root: string }
  | { kind: "drop"; root: string };

/** What the agent does next; `modelSeconds` is what its calls took. */
export type Action = { modelSeconds?: number } & (
  | Extract<Move, { kind: "command" | "environment" }>
  /** Runs candidates apart from the rest and keeps the first that works. */
  | { kind: "try"; candidates: Candidate[] }
  /** What a candidate did is kept, or thrown away. */
  | { kind: "keep" | "undo" }
  | { kind: "rollback"; frames: number }
  /** Somebody else looks at the environment, on a fork. */
  | { kind: "verify" }
  /** There is nothing to run; the turn counts all the same. */
  | { kind: "nothing" }
  /** `cause`: why it ends, when not of its own accord. */
  | { kind: "finish"; claim: boolean | null; message: string; cause?: AgentCause }
);

/** Digests: of variables, of commands in order, and of the command that shows whether they helped. */
export interface Candidate {
  values: string | null;
  scripts: readonly string[];
  check: string | null;
}

export type AgentCause = Extract<
  Cause,
  "agent_gave_up" | "agent_budget" | "agent_timeout" | "model_refused_output"
>;

/** What came of a move; outputs are in the trajectory. */
export interface Observation {
  exit: number | null;
  end: "exited" | "timeout" | "output" | "stopped" | "oom" | "lost";
  seconds: number;
}
