import type { Action, Arm, AttemptKey, Budget, Observation, SetupOutcome } from "../types.ts";

/** What a system's loop may use: two activities, its budget and the time left. */
export interface SystemContext {
  key: AttemptKey;
  arm: Arm;
  budget: Budget;
  decide(step: number): Promise<Action>;
  act(step: number, action: Action, seconds: number): Promise<Observation>;
  /** Wall seconds left of the setup stage. */
  secondsLeft(): number;
  /** Working seconds used so far. */
  secondsWorked(): number;
  /** Shows the step number to whoever watches. */
  onStep(step: number): void;
}

/** A system's loop. It runs in workflow code: a crash anywhere resumes at the step where it stopped. */
export type SystemLoop = (
  context: SystemContext,
) => Promise<Omit<SetupOutcome, "wallSeconds" | "workingSeconds">>;
