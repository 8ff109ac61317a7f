import { VERIFIER_LOOKS } from "../../../workflows/policies.ts";
import type { DecideContext, Decision } from "../system.ts";
import { type TurnNote, turnName, type VerifyNote, verifyName } from "./note.ts";
import type { SetupxOptions } from "./options.ts";
import { verify } from "./roles/verify.ts";
import { SIZES } from "./sizes.ts";
import { resultOf } from "./turns.ts";

/** The verifier's next look at the fork, or its word. */
export async function look(context: DecideContext, options: SetupxOptions): Promise<Decision> {
  const { task, step, notes, trajectory } = context;
  const looks = trajectory.filter((one) => one.step === step && one.move.kind === "command");
  const note = (await notes.read(turnName(step))) as TurnNote | null;
  const answer = await context.ask(verify, {
    ...{ task: task.id, language: task.language },
    hint: note?.action.kind === "verify" ? note.action.hint : "",
    looks: looks.map((one) => ({ command: one.command ?? "", result: resultOf(one) })),
    looksLeft: VERIFIER_LOOKS - looks.length,
    characters: SIZES[options.profile].characters,
  });
  if (answer.action === "run") return { kind: "command", command: answer.command };
  const { success, hint, framework, collected } = answer;
  const said = await notes.once<VerifyNote>(verifyName(step), async () => ({
    ...{ success, hint, framework, collected },
  }));
  return { kind: "finish", claim: said.success, message: said.hint };
}
