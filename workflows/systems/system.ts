import type { Action, Move, Observation } from "../moves.ts";
import type { Arm, AttemptKey, Budget, SetupOutcome } from "../types.ts";

/** What a system's loop may use: two activities, its budget and the time left. */
export interface SystemContext {
  key: AttemptKey;
  arm: Arm;
  budget: Budget;
  /** Asks the system's policy; `about` names whom, where a system has several. */
  decide(step: number, part?: number, about?: string): Promise<Action>;
  /** Does something to the sandbox, within its seconds or the budget's. */
  act(step: number, move: Move, part?: number): Promise<Observation>;
  /** Wall seconds left of the setup stage. */
  secondsLeft(): number;
  /** Working seconds used so far. */
  secondsWorked(): number;
  /** Shows the step number to whoever watches. */
  onStep(step: number): void;
}

export type LoopOutcome = Omit<SetupOutcome, "wallSeconds" | "workingSeconds">;

/** A system's loop. It runs in workflow code: a crash anywhere resumes at the step where it stopped. */
export type SystemLoop = (context: SystemContext) => Promise<LoopOutcome>;

/** The outcome of a set-up that has used up its steps or its time after `done` steps; null while it may go on. */
export function budgetUsed(context: SystemContext, done: number): LoopOutcome | null {
  const { budget } = context;
  const ended = (cause: "agent_budget" | "agent_timeout", detail: string) => ({
    ...{ steps: done, claim: null, cause, detail },
  });
  if (done >= budget.steps) return ended("agent_budget", `${budget.steps} steps used`);
  if (context.secondsLeft() <= 0) return ended("agent_timeout", `${budget.wall} s of wall time used`);
  if (context.secondsWorked() >= budget.working) {
    return ended("agent_timeout", `${budget.working} s of working time used`);
  }
  return null;
}
