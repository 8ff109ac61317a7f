import type { Turn } from "../roles/turn.ts";

/** What a turn printed and was told, its end last. */
export function saidBy({ result, note }: Turn): string {
  return [result?.stdout ?? "", result?.stderr ?? "", note].filter(Boolean).join("\n");
}

export function isShell({ action }: Turn, command?: string): boolean {
  return action.kind === "shell" && (command === undefined || action.command === command);
}

/** Indexes of the command's runs from `start` on. */
export function runsOf(turns: readonly Turn[], command: string, start = 0): number[] {
  return turns.flatMap((turn, index) => (index >= start && isShell(turn, command) ? [index] : []));
}

/** Whether something that can make a difference succeeded after the turn of this index. */
export function changedSince(turns: readonly Turn[], index: number): boolean {
  return turns.slice(index + 1).some(({ success, action }) => success && action.kind !== "verify");
}

/** Suggestions tried since the turn of this index failed. */
export function triesSince(turns: readonly Turn[], index: number): number {
  let tries = 0;
  for (const { action } of turns.slice(index + 1)) if (action.kind === "try") tries++;
  return tries;
}
