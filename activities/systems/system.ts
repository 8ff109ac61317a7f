import type { Task } from "../../benchmarks/schema.ts";
import type { AgentCause } from "../../workflows/types.ts";
import type { Role } from "../model/role.ts";
import type { Step } from "../store/trajectory.ts";

export type Decision =
  | { kind: "command"; command: string; seconds?: number }
  /** `cause`: why it ends, when not of its own accord. */
  | { kind: "finish"; claim: boolean | null; message: string; cause?: AgentCause };

interface DecideContext {
  task: Task;
  options: Readonly<Record<string, string | number | boolean>>;
  /** The steps so far, oldest first. */
  trajectory: readonly Step[];
  /** Steps that it may take in all. */
  maxSteps: number;
  /** Asks the arm's policy: its model, or rules. Throws as `runRole` does. */
  ask<I, O>(role: Role<I, O>, input: I): Promise<O>;
  /** Text of a blob that an option names by its digest. */
  readBlob(digest: string): Promise<string>;
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
  /** Whether it needs a model; `optional`: its roles have rules as well. Left out: it takes none. */
  model?: "required" | "optional";
  /** The roles that it asks, for the sweep's lock. */
  roles?: readonly Pick<Role<unknown, unknown>, "name" | "instructions" | "output">[];
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
