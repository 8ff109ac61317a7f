import type { Turn } from "../roles/turn.ts";
import type { Choices } from "./era.ts";
import { erasOf } from "./era.ts";
import type { Facts } from "./facts.ts";
import { changedSince, purposeOf, saidBy } from "./history.ts";
import { unbuildable } from "./repair.ts";
import { readVerdict, type Verdict } from "./verdict.ts";

/** How far things are, as the turns tell it. */
export interface State {
  choices: Choices;
  /** Index of the turn that made the environment at hand; all before it is gone. -1: there is none. */
  start: number;
  /** Environments made so far. */
  made: number;
  eras: (string | null)[];
}

/** A thought that names the era, so that the turns tell it. */
export function freshThought(era: string | null): string {
  return `fresh: An environment, with packages as of ${era ?? "today"}.`;
}

export function stateOf(turns: readonly Turn[], facts: Facts): State {
  const eras = erasOf(facts);
  const fresh = turns.flatMap((turn, index) => (purposeOf(turn) === "fresh" && turn.success ? [index] : []));
  const start = fresh.at(-1) ?? -1;
  const era = start < 0 ? (eras[0] ?? null) : eraIn(turns[start]?.thought ?? "");
  return { choices: { era, relaxed: relaxedIn(turns, start, facts) }, start, made: fresh.length, eras };
}

function eraIn(thought: string): string | null {
  return /as of (\d{4}-\d\d-\d\d)\.$/.exec(thought)?.[1] ?? null;
}

/** More are a sign that nothing of that time can be built. */
const MOST_RELAXED = 12;

function relaxedIn(turns: readonly Turn[], start: number, facts: Facts): ReadonlyMap<string, number> {
  const relaxed = new Map<string, number>();
  for (const turn of turns.slice(start + 1)) {
    if (turn.success || !/^(?:project|tests)$/.test(purposeOf(turn))) continue;
    for (const name of unbuildable(saidBy(turn), facts)) {
      if (relaxed.has(name) || relaxed.size < MOST_RELAXED) relaxed.set(name, (relaxed.get(name) ?? 0) + 1);
    }
  }
  return relaxed;
}

/** A verification that failed. */
export interface Failed {
  index: number;
  verdict: Verdict | null;
}

export function failedVerifications(turns: readonly Turn[], start: number): Failed[] {
  return turns.flatMap((turn, index) =>
    index > start && turn.action.kind === "verify" && !turn.success
      ? [{ index, verdict: readVerdict(saidBy(turn)) }]
      : [],
  );
}

/** How often the same problem may be in the way before it is left alone. */
const MOST_SEEN = 3;

/** Problems that nothing helped against: the first of each verification after which nothing changed, or seen too often. */
export function settledKeys(turns: readonly Turn[], failed: readonly Failed[]): string[] {
  const settled = new Set<string>();
  const seen = new Map<string, number>();
  for (const [place, { index, verdict }] of failed.entries()) {
    const key = verdict?.keys[0];
    if (key === undefined) continue;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    const changed = changedSince(turns, index, failed[place + 1]?.index ?? turns.length);
    if (!changed || (seen.get(key) ?? 0) >= MOST_SEEN) settled.add(key);
  }
  return [...settled];
}

/** Most of the tests can't be run, or fail: another environment may do better. */
export function isBad({ collected, passed, failed, uncollected }: Verdict): boolean {
  return collected === 0 || uncollected > 0 || failed > 0.25 * (passed + failed);
}

/** The era under which most tests passed; undefined when no verification told numbers. */
export function bestEra(turns: readonly Turn[]): string | null | undefined {
  let best: { passed: number; era: string | null } | undefined;
  let era: string | null = null;
  for (const turn of turns) {
    if (purposeOf(turn) === "fresh" && turn.success) era = eraIn(turn.thought);
    const verdict = turn.action.kind === "verify" ? readVerdict(saidBy(turn)) : null;
    if (verdict === null) continue;
    // Tests that are not even collected weigh more than some that fail.
    const passed = verdict.passed * (verdict.uncollected > 0 ? 0.5 : 1);
    if (best === undefined || passed > best.passed) best = { passed, era };
  }
  return best?.era;
}
