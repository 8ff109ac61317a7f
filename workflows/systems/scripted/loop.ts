import type { SetupOutcome } from "../../types.ts";
import type { SystemContext } from "../system.ts";

/**
 * decide → act → observe until the policy finishes or a budget is reached. Used by every system whose decisions
 * need nothing but the trajectory so far: oracle, nop, naive, pipreqs, script and react.
 */
export async function scripted(
  context: SystemContext,
): Promise<Omit<SetupOutcome, "wallSeconds" | "workingSeconds">> {
  const { budget } = context;
  for (let step = 1; ; step++) {
    const done = step - 1;
    if (done >= budget.steps) {
      return { steps: done, claim: null, cause: "agent_budget", detail: `${budget.steps} steps used` };
    }
    if (context.secondsLeft() <= 0) {
      return {
        steps: done,
        claim: null,
        cause: "agent_timeout",
        detail: `${budget.wall} s of wall time used`,
      };
    }
    if (context.secondsWorked() >= budget.working) {
      const detail = `${budget.working} s of working time used`;
      return { steps: done, claim: null, cause: "agent_timeout", detail };
    }
    context.onStep(step);
    const action = await context.decide(step);
    if (action.kind === "finish") {
      return { steps: done, claim: action.claim, cause: action.cause ?? null, detail: action.message };
    }
    const seconds = Math.min(action.seconds ?? budget.command, budget.command, context.secondsLeft());
    await context.act(step, action, seconds);
  }
}
