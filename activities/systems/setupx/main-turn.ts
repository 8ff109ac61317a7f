import { OverflowError } from "../../model/run-role.ts";
import { survivingSteps, valuesOf } from "../../setup/surviving.ts";
import type { CandidatePlan, DecideContext, Decision } from "../system.ts";
import { candidatesOf } from "./candidates.ts";
import { learnFromLast } from "./learn.ts";
import { type TurnNote, turnName, turnNotes } from "./note.ts";
import type { SetupxOptions } from "./options.ts";
import { type Found, type Need, retrieve, stillOpen } from "./retrieve.ts";
import { actionOf, type DecideInput, type DecideOutput, decide } from "./roles/decide.ts";
import { SIZES } from "./sizes.ts";
import { lastErrorOf, triedUnits, turnsOf } from "./turns.ts";

/** The main agent's turn. What it knew and chose is noted, so that a repeated call chooses the same. */
export async function mainTurn(context: DecideContext, options: SetupxOptions): Promise<Decision> {
  const note = await context.notes.once<TurnNote>(turnName(context.step), () => takeTurn(context, options));
  if (note.refusal !== "") return { kind: "nothing" };
  const { action } = note;
  switch (action.kind) {
    case "shell":
      return { kind: "command", command: action.command };
    case "set_env":
      return { kind: "environment", values: { environment: { [action.name]: action.value }, umask: null } };
    case "try":
      return { kind: "try", candidates: note.candidates.map(planOf) };
    case "rollback":
      return { kind: "rollback", frames: action.frames };
    case "verify":
      return { kind: "verify" };
    case "finish":
      return { kind: "finish", claim: action.ready, message: action.message };
  }
}

const NOTHING: Found = { retrieval: null, suggestions: [] };

async function takeTurn(context: DecideContext, options: SetupxOptions): Promise<TurnNote> {
  const { step, notes, trajectory } = context;
  const noted = await turnNotes(notes, step);
  if (noted.length < step - 1) throw new Error(`the decision of turn ${noted.length + 1} is gone`);
  const turns = await turnsOf(noted, trajectory, notes);
  const lastError = lastErrorOf(turns);
  const need = lastError === null ? null : { turns, lastError, tried: triedUnits(noted) };
  const found = need === null || !options.xpu ? NOTHING : await suggest(context, options, need, noted.at(-1));
  const surviving = survivingSteps(trajectory);
  const answer = await askFor(context, options, {
    ...{ task: context.task.id, language: context.task.language },
    ...{ turns, lastError, suggestions: found.suggestions },
    turnsLeft: Math.max(0, context.maxSteps - turns.length),
    environment: valuesOf(surviving, "main").environment,
    frames: surviving.main.filter(({ move }) => move.kind === "push").length,
    shown: SIZES[options.profile],
  });
  const { thought } = answer;
  const action = actionOf(answer);
  const { candidates, refusal } =
    action.kind === "try"
      ? candidatesOf(action, poolOf(found, noted.at(-1)), { need, noted, trajectory, options })
      : { candidates: [], refusal: "" };
  return { thought, action, lastError, ...found, candidates, refusal };
}

async function suggest(
  context: DecideContext,
  options: SetupxOptions,
  need: Need,
  last: TurnNote | undefined,
): Promise<Found> {
  const open = stillOpen(last, need);
  if (open !== null) return open;
  await learnFromLast(context, options);
  return retrieve(context, options, need);
}

/** What was suggested in this turn or in the one before stays callable (as published). */
function poolOf(found: Found, last: TurnNote | undefined): Found["suggestions"] {
  const now = new Set(found.suggestions.map(({ unit }) => unit));
  return [...found.suggestions, ...(last?.suggestions ?? []).filter(({ unit }) => !now.has(unit))];
}

/** Less of each output, and then fewer turns, when the conversation is longer than the model takes. */
async function askFor(
  context: DecideContext,
  options: SetupxOptions,
  input: DecideInput,
): Promise<DecideOutput> {
  const { turns, characters } = SIZES[options.profile];
  const sizes = [
    { turns, characters },
    { turns, characters: characters / 4 },
    { turns: Math.ceil(turns / 4), characters: characters / 8 },
  ];
  for (const [attempt, shown] of sizes.entries()) {
    try {
      return await context.ask(decide, { ...input, shown });
    } catch (error) {
      if (!(error instanceof OverflowError) || attempt === sizes.length - 1) throw error;
    }
  }
  throw new Error("no size of the conversation is left");
}

function planOf({ values, commands, check }: CandidatePlan): CandidatePlan {
  return { values, commands, check };
}
