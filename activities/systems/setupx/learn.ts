import type { TelemetryEvent } from "../../knowledge/store/store.ts";
import type { DecideContext } from "../system.ts";
import { type TurnNote, turnNotes } from "./note.ts";
import type { SetupxOptions } from "./options.ts";
import { audit } from "./roles/audit.ts";
import type { Turn } from "./roles/turn.ts";
import { SIZES } from "./sizes.ts";
import { triedUnits, turnsOf } from "./turns.ts";

/**
 * What the base learns of its recommendations, if it is live: tries tell at once, the rest is judged by the turns that
 * came after it, at the next recommendation or at the end of the set-up (SetupX's delayed audit). Each counts once.
 */
export async function learnFromLast(context: DecideContext, options: SetupxOptions): Promise<void> {
  if (!options.xpu) return;
  const { base, live } = await context.knowledge(options.knowledge);
  if (!live) return;
  const noted = await turnNotes(context.notes, context.step);
  const turns = await turnsOf(noted, context.trajectory, context.notes);
  const events = [
    ...(options.profile === "published" ? [] : triesOf(context.run, noted, turns)),
    ...(await audited(context, options, noted, turns)),
  ];
  await base.store.record(events);
}

function triesOf(run: string, noted: readonly TurnNote[], turns: readonly Turn[]): TelemetryEvent[] {
  return noted.flatMap(({ candidates }, index) => {
    const turn = turns[index];
    if (turn === undefined || candidates.length !== 1) return [];
    const kind = turn.success ? ("success" as const) : ("failure" as const);
    return candidates.map(({ unit }) => ({ id: `${run}/${index + 1}/${unit}/try`, unit, kind }));
  });
}

/** Judges the latest recommendation by what was done since. */
async function audited(
  context: DecideContext,
  options: SetupxOptions,
  noted: readonly TurnNote[],
  turns: readonly Turn[],
): Promise<TelemetryEvent[]> {
  const anchor = noted.findLastIndex(({ retrieval }, index) => retrieval?.turn === index + 1);
  const note = noted[anchor];
  if (note === undefined || note.retrieval === null) return [];
  const after = turns.slice(anchor, anchor + SIZES[options.profile].audited);
  const { situation } = note.retrieval;
  // Tries have told of themselves.
  const told = options.profile === "published" ? new Set<string>() : triedUnits(noted);
  const units = note.suggestions.filter(({ unit }) => !told.has(unit));
  if (units.length === 0) return [];
  const judged = await context.notes.once(`audit-${anchor + 1}`, () =>
    context.ask(audit, {
      situation: situation.slice(0, 500),
      units: units.map(({ unit, advice, commands }) => ({ unit, advice, commands })),
      after: after.map(briefTurn),
    }),
  );
  const suggested = new Set(units.map(({ unit }) => unit));
  return judged.verdicts.flatMap(({ unit, verdict }) =>
    verdict === "neutral" || !suggested.has(unit)
      ? []
      : [{ id: `${context.run}/${anchor + 1}/${unit}/audit`, unit, kind: verdict }],
  );
}

function briefTurn({ action, success, result, note }: Turn) {
  const command =
    action.kind === "shell" ? action.command : action.kind === "try" ? action.commands.join("\n") : "";
  const printed = result === null ? note : `${result.stdout}\n${result.stderr}`;
  return { action: action.kind, command, success, output: printed.slice(-300) };
}
