import { OverflowError } from "../../model/run-role.ts";
import type { Decision, System } from "../system.ts";
import { observedSteps } from "./history.ts";
import { step } from "./role.ts";

/** Characters of each output that the model is shown; less when the conversation grows beyond what it takes. */
const SHOWN = [4_000, 1_000, 250];

/** The smallest agent with a model: one shell command per step, all of the steps so far before its eyes. */
export const react: System = {
  name: "react",
  title: "a model that runs one shell command per step (--model)",
  needsOracle: false,
  model: "required",
  roles: [step],
  async decide({ task, trajectory, maxSteps, ask }): Promise<Decision> {
    const about = { task: task.id, language: task.language, stepsLeft: maxSteps - trajectory.length };
    for (const [attempt, characters] of SHOWN.entries()) {
      try {
        const next = await ask(step, { ...about, steps: observedSteps(trajectory, characters) });
        if (next.action === "finish") return { kind: "finish", claim: next.ready, message: next.thought };
        return { kind: "command", command: next.command };
      } catch (error) {
        if (!(error instanceof OverflowError) || attempt === SHOWN.length - 1) throw error;
      }
    }
    throw new Error("no size of output is left");
  },
};
