import { budgetUsed, type LoopOutcome, type SystemContext } from "../system.ts";

/**
 * decide → act → observe until the policy finishes or a budget is reached. Used by every system whose decisions
 * need nothing but the trajectory so far: oracle, nop, naive, pipreqs, script and react.
 */
export async function scripted(context: SystemContext): Promise<LoopOutcome> {
  for (let step = 1; ; step++) {
    const used = budgetUsed(context, step - 1);
    if (used !== null) return used;
    context.onStep(step);
    const action = await context.decide(step);
    if (action.kind === "finish") {
      const { claim, cause = null, message } = action;
      return { steps: step - 1, claim, cause, detail: message };
    }
    if (action.kind !== "command") throw new Error(`${context.arm.system} has no ${action.kind} action`);
    await context.act(step, action);
  }
}
