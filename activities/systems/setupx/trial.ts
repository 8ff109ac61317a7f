import type { DecideContext, Decision } from "../system.ts";
import { gotFurther } from "./failure.ts";
import { type TurnNote, turnName } from "./note.ts";
import { resultOf } from "./turns.ts";

/** A candidate's commands succeeded, and what had failed fails again: is it at least another failure? */
export async function judgeTrial({ step, part, trajectory, notes }: DecideContext): Promise<Decision> {
  const note = (await notes.read(turnName(step))) as TurnNote | null;
  const check = trajectory.find((one) => one.step === step && one.part === part - 1);
  const result = resultOf(check);
  if (note === null || result === null) throw new Error(`turn ${step}: nothing was checked`);
  const further = gotFurther(note.lastError ?? "", `${result.stdout}\n${result.stderr}`);
  return { kind: further ? "keep" : "undo" };
}
