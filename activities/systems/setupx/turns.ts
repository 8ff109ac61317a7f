import type { Notes } from "../../store/notes.ts";
import type { Step } from "../../store/trajectory.ts";
import { readVerifyNote, type TurnNote, type VerifyNote } from "./note.ts";
import type { Result, Turn } from "./roles/turn.ts";

/** The turns so far, as the agent remembers them. */
export async function turnsOf(
  noted: readonly TurnNote[],
  trajectory: readonly Step[],
  notes: Notes,
): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (const [index, note] of noted.entries()) {
    const turn = index + 1;
    const parts = trajectory.filter(({ step }) => step === turn);
    const verified = note.action.kind === "verify" ? await readVerifyNote(notes, turn) : null;
    turns.push({ turn, thought: note.thought, action: note.action, ...outcomeOf(note, parts, verified) });
  }
  return turns;
}

type Outcome = Pick<Turn, "result" | "success" | "note">;

function outcomeOf(note: TurnNote, parts: readonly Step[], verified: VerifyNote | null): Outcome {
  if (note.refusal !== "") return { result: null, success: false, note: note.refusal };
  switch (note.action.kind) {
    case "try":
      return outcomeOfTry(note, parts);
    case "verify":
      return outcomeOfVerify(verified);
    case "rollback":
      return { result: null, success: true, note: `went back ${note.action.frames}` };
    default: {
      const result = resultOf(parts[0]);
      return { result, success: result?.exit === 0, note: "" };
    }
  }
}

function outcomeOfTry({ candidates }: TurnNote, parts: readonly Step[]): Outcome {
  const inFrame = parts.slice(parts.findIndex(({ move }) => move.kind === "push"));
  const tried = parts.some(({ move }) => move.kind === "push");
  const ran = (tried ? inFrame : parts).filter(({ move }) => move.kind === "command");
  const result = resultOf(ran.at(-1));
  const kept = tried && !parts.some(({ move }) => move.kind === "pop");
  const units = candidates.map(({ unit }) => unit).join(", ");
  if (!kept) return { result, success: false, note: `${units}: taken back, for it did not help` };
  return { result, success: true, note: `kept: ${winnerOf(candidates, inFrame)}` };
}

/** Of several candidates the one whose commands ran in the frame. */
function winnerOf(candidates: TurnNote["candidates"], inFrame: readonly Step[]): string {
  const ran = inFrame.flatMap(({ move, command }) => (move.kind === "command" ? [command] : []));
  const same = candidates.find(({ commands }) => commands.every((command, index) => command === ran[index]));
  return (same ?? candidates[0])?.unit ?? "";
}

function outcomeOfVerify(verified: VerifyNote | null): Outcome {
  if (verified === null) return { result: null, success: false, note: "the verifier came to no end" };
  const { success, framework, collected, hint } = verified;
  const note = `${framework || "no test runner"}: ${collected} tests found. ${hint}`.trim();
  return { result: null, success, note };
}

export function resultOf(step: Step | undefined): Result | null {
  if (step === undefined || step.observation === null) return null;
  const { exit, end, seconds, stdout, stderr } = step.observation;
  return { exit, end, seconds, stdout: stdout.text, stderr: stderr.text };
}

/**
 * What is still wrong: the output of the last failure, until a command succeeds. What a try took back leaves it as it
 * was; what a kept one leaves undone takes its place.
 */
export function lastErrorOf(turns: readonly Turn[]): string | null {
  let error: string | null = null;
  for (const { action, result, success, note } of turns) {
    if (action.kind === "verify") error = success ? null : note;
    else if (action.kind === "try") error = success ? failureText(result) : error;
    else if (action.kind === "shell" || action.kind === "set_env")
      error = success ? null : failureText(result);
  }
  return error;
}

/** Null when it did not fail. */
function failureText(result: Result | null): string | null {
  if (result === null || result.exit === 0) return null;
  const how = result.end === "exited" ? "" : `ended: ${result.end}\n`;
  return `${how}${result.stdout}\n${result.stderr}`.trim() || `exit ${result.exit}, without a word`;
}

/** Units that were tried, whatever came of it. */
export function triedUnits(noted: readonly TurnNote[]): Set<string> {
  return new Set(
    noted.flatMap(({ action, candidates }) => [
      ...(action.kind === "try" ? [action.unit] : []),
      ...candidates.map(({ unit }) => unit),
    ]),
  );
}
