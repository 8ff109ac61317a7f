import type { Task } from "../../benchmarks/schema.ts";
import type { ArmPlan } from "../../benchmarks/sweep-plan.ts";
import type { AgentCause } from "../../workflows/moves.ts";
import type { OpenKnowledge } from "../knowledge/for-sweep.ts";
import type { Role } from "../model/role.ts";
import type { Values } from "../setup/values.ts";
import type { Notes } from "../store/notes.ts";
import type { Step } from "../store/trajectory.ts";

export interface CandidatePlan {
  values: Values | null;
  commands: readonly string[];
  /** The command that shows whether it helped. */
  check: string | null;
}

export type Decision =
  | { kind: "command"; command: string; seconds?: number }
  | { kind: "environment"; values: Values }
  | { kind: "try"; candidates: readonly CandidatePlan[] }
  | { kind: "keep" | "undo" }
  | { kind: "rollback"; frames: number }
  | { kind: "verify" }
  | { kind: "nothing" }
  /** `cause`: why it ends, when not of its own accord. */
  | { kind: "finish"; claim: boolean | null; message: string; cause?: AgentCause };

export interface DecideContext {
  task: Task;
  /** Names the attempt, among all there are. */
  run: string;
  options: Readonly<Record<string, string | number | boolean>>;
  /** Which decision is asked for: the step, its part, and whom it is asked. */
  step: number;
  part: number;
  about: string;
  /** The steps so far, oldest first. */
  trajectory: readonly Step[];
  /** Steps that it may take in all. */
  maxSteps: number;
  notes: Notes;
  /** Asks the arm's policy: its model, or rules. Throws as `runRole` does. */
  ask<I, O>(role: Role<I, O>, input: I): Promise<O>;
  /** The knowledge base that the plan names so, without what was learnt from the sweep's own repositories. */
  knowledge(name: string): Promise<OpenKnowledge>;
  /** Text of a blob that an option names by its digest. */
  readBlob(digest: string): Promise<string>;
}

/** What the command line says of a system's own options; a list makes an arm for each of its values. */
export type AskedOptions = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface Variant {
  suffix: string;
  options: ArmPlan["options"];
}

/**
 * The half of a system that decides; its loop is in workflows/systems/. A decision depends on nothing but its input and
 * what its roles are answered, which a repeated call is answered again.
 */
export interface System {
  name: string;
  title: string;
  /** Only runs tasks whose suite gives a known recipe. */
  needsOracle: boolean;
  /** Only runs on sandboxes that can go back to earlier states. */
  needsLayers?: boolean;
  /** Whether it needs a model; `optional`: its roles have rules as well. Left out: it takes none. */
  model?: "required" | "optional";
  /** The roles that it asks, for the sweep's lock. */
  roles?: readonly Pick<Role<unknown, unknown>, "name" | "instructions" | "output">[];
  /** Its variants: what is added to the arm's id, and the arm's options. Left out: there is one, without options. */
  variants?(asked: AskedOptions): Variant[];
  decide(context: DecideContext): Promise<Decision>;
}

/**
 * Decides by a fixed list of commands: each is run once, a failure is noted and the next one is run all the same.
 * The claim at the end is that every command succeeded.
 */
export function nextOf(commands: readonly string[], trajectory: readonly Step[]): Decision {
  const command = commands[trajectory.length];
  if (command !== undefined) return { kind: "command", command };
  const failed = trajectory.filter((step) => step.observation?.exit !== 0);
  return failed.length === 0
    ? { kind: "finish", claim: true, message: "all commands succeeded" }
    : { kind: "finish", claim: false, message: `${failed.length} of ${commands.length} commands failed` };
}
