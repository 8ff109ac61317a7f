import type { Turn } from "../roles/turn.ts";

/**
 * What a turn was for: the first word of its thought, before the colon. The rules' own thoughts begin with it, so that
 * the turns tell how far the plan is, whatever the commands were.
 */
export function purposeOf({ thought }: Turn): string {
  return /^([a-z]+(?: [a-z]+)?):/.exec(thought)?.[1] ?? "";
}

/** What a turn printed and was told, its end last. */
export function saidBy({ result, note }: Turn): string {
  return [result?.stdout ?? "", result?.stderr ?? "", note].filter(Boolean).join("\n");
}

export function commandOf({ action }: Turn): string | null {
  return action.kind === "shell" ? action.command : null;
}

/** Indexes of the turns from `start` on that were for this. */
export function turnsFor(turns: readonly Turn[], purpose: string, start: number): number[] {
  return turns.flatMap((turn, index) => (index >= start && purposeOf(turn) === purpose ? [index] : []));
}

export function timesRun(turns: readonly Turn[], command: string, start: number): number {
  return turns.filter((turn, index) => index >= start && commandOf(turn) === command).length;
}

/** Whether something that can make a difference succeeded after the turn of this index; going back makes none. */
export function changedSince(turns: readonly Turn[], index: number, end = turns.length): boolean {
  return turns
    .slice(index + 1, end)
    .some(({ success, action }) => success && action.kind !== "verify" && action.kind !== "rollback");
}

/** Suggestions tried after the turn of this index. */
export function triesSince(turns: readonly Turn[], index: number): number {
  return turns.slice(index + 1).filter(({ action }) => action.kind === "try").length;
}
