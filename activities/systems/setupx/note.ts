import type { Notes } from "../../store/notes.ts";
import type { CandidatePlan } from "../system.ts";
import type { AgentAction, Suggestion } from "./roles/turn.ts";

/** `decisions/turn-<n>.json`: what the main agent knew in a turn and what it chose. */
export interface TurnNote {
  thought: string;
  action: AgentAction;
  lastError: string | null;
  retrieval: Retrieval | null;
  /** What was suggested, the best first. */
  suggestions: Suggestion[];
  /** Of a try: what it runs, in order, and whose it is. */
  candidates: (CandidatePlan & { unit: string })[];
  /** Why the turn runs nothing; else empty. */
  refusal: string;
}

/** What was looked for, and what the search and the Selector made of it. */
export interface Retrieval {
  situation: string;
  /** The turn in which it was made: a failure that stays keeps its retrieval until all of it was tried. */
  turn: number;
  found: { unit: string; similarity: number; composite: number; tier: string }[];
}

/** `decisions/verify-<n>.json`: the verifier's word in a turn. */
export interface VerifyNote {
  success: boolean;
  hint: string;
  framework: string;
  collected: number;
}

export function turnName(turn: number): string {
  return `turn-${turn}`;
}

export function verifyName(turn: number): string {
  return `verify-${turn}`;
}

/** The notes of the turns before this one, in order; a turn in which the agent was not able to decide has none. */
export async function turnNotes(notes: Notes, before: number): Promise<TurnNote[]> {
  const found: TurnNote[] = [];
  for (let turn = 1; turn < before; turn++) {
    const note = (await notes.read(turnName(turn))) as TurnNote | null;
    if (note === null) break;
    found.push(note);
  }
  return found;
}

export function readVerifyNote(notes: Notes, turn: number): Promise<VerifyNote | null> {
  return notes.read(verifyName(turn)) as Promise<VerifyNote | null>;
}
