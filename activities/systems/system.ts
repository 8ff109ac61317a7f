import type { Task } from "../../benchmarks/schema.ts";
import type { Step } from "../store/trajectory.ts";

export type Decision =
  | { kind: "command"; command: string; seconds?: number }
  | { kind: "finish"; claim: boolean | null; message: string };

interface DecideContext {
  task: Task;
  options: Readonly<Record<string, string | number | boolean>>;
  /** The steps so far, oldest first. */
  trajectory: readonly Step[];
  /** Text of a blob that an option names by its digest. */
  readBlob(digest: string): Promise<string>;
}

/** The half of a system that decides; its loop is in workflows/systems/. A decision depends on nothing but its input. */
export interface System {
  name: string;
  title: string;
  /** Only runs tasks whose suite gives a known recipe. */
  needsOracle: boolean;
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
