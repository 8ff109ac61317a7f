import { CAUSES } from "../results/causes.ts";
import type { RunOutcome } from "./types.ts";

/** How many runs in a row have failed for the same infrastructure cause. */
export interface Streak {
  cause: string | null;
  length: number;
}

/** As many failures of one kind in a row are taken for a fault of the surroundings, not of the runs. */
const BREAKER_LENGTH = 5;

export function streakAfter(streak: Streak, outcome: RunOutcome): Streak {
  if (outcome.validity === "valid") return { cause: null, length: 0 };
  return outcome.cause === streak.cause
    ? { cause: outcome.cause, length: streak.length + 1 }
    : { cause: outcome.cause, length: 1 };
}

/** Why the sweep should pause now, or null. */
export function breakerReason(streak: Streak, outcome: RunOutcome): string | null {
  if (outcome.cause !== null && CAUSES[outcome.cause].pauses) return `paused by ${outcome.cause}`;
  if (streak.length >= BREAKER_LENGTH) return `${streak.length} runs in a row failed with ${streak.cause}`;
  return null;
}
