import type { Captures } from "../atoms/fill.ts";
import type { Unit } from "../unit.ts";
import { compilePattern, type Pattern } from "./pattern.ts";

/** How a unit's patterns match a text. */
export interface SignalMatch {
  /** The pattern that says most. */
  regex: string;
  /** 0 to 1: how much is spelled out by it. */
  strength: number;
  /** Of all patterns that match, those that say more before. */
  captures: Captures;
}

export interface SignalIndex {
  /** Units with a pattern that matches, by id. */
  match(text: string): Map<string, SignalMatch>;
  /** Patterns that can't be used: not valid, or of exponential time. */
  refused: { unit: string; regex: string }[];
}

interface Known extends Pattern {
  source: string;
  strength: number;
  units: string[];
}

/** Longer texts lose their middle: what matters of an output is at its ends. */
const MOST_TEXT = 16_000;

/**
 * Compiles each pattern once, whoever shares it. Of thousands of patterns a text is tried on those alone of whose literal
 * it holds the rarest three letters.
 */
export function makeSignalIndex(units: readonly Unit[]): SignalIndex {
  const known = new Map<string, Known>();
  const refused: SignalIndex["refused"] = [];
  for (const { id, signals } of units) {
    for (const source of new Set(signals.regex)) {
      const pattern = known.get(source) ?? knownPattern(source);
      if (pattern === null) {
        refused.push({ unit: id, regex: source });
        continue;
      }
      known.set(source, pattern);
      pattern.units.push(id);
    }
  }
  const { byTrigram, always } = arrange([...known.values()]);
  return {
    refused,
    match: (whole) => {
      const text = shortened(whole);
      const lower = text.toLowerCase();
      const candidates = [...trigramsOf(lower)].flatMap((trigram) => byTrigram.get(trigram) ?? []);
      const found = new Map<string, SignalMatch>();
      const tried = [...candidates.filter(({ literal }) => lower.includes(literal)), ...always];
      for (const pattern of tried.toSorted(byStrength)) note(found, pattern, text);
      return found;
    },
  };
}

function knownPattern(source: string): Known | null {
  const pattern = compilePattern(source);
  return pattern && { ...pattern, source, strength: strengthOf(pattern), units: [] };
}

function arrange(patterns: readonly Known[]): { byTrigram: Map<string, Known[]>; always: Known[] } {
  const frequency = new Map<string, number>();
  for (const { literal } of patterns) {
    for (const trigram of trigramsOf(literal)) frequency.set(trigram, (frequency.get(trigram) ?? 0) + 1);
  }
  const byTrigram = new Map<string, Known[]>();
  const always: Known[] = [];
  for (const pattern of patterns) {
    const rare = [...trigramsOf(pattern.literal)].sort(
      (a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || (a < b ? -1 : 1),
    )[0];
    if (rare === undefined) always.push(pattern);
    else byTrigram.set(rare, [...(byTrigram.get(rare) ?? []), pattern]);
  }
  return { byTrigram, always };
}

function note(
  found: Map<string, SignalMatch>,
  { expression, source, strength, units }: Known,
  text: string,
): void {
  const match = expression.exec(text);
  if (match === null) return;
  const captures = Object.fromEntries(
    Object.entries(match.groups ?? {}).filter(([, value]) => value !== undefined),
  ) as Captures;
  for (const unit of units) {
    const before = found.get(unit);
    if (before === undefined) found.set(unit, { regex: source, strength, captures });
    else before.captures = { ...captures, ...before.captures };
  }
}

/** A pattern that leaves a name open speaks of many problems; one that spells the name out is nearer to each. */
const OPEN = 0.7;

/** Thirty characters are as good as certain; a bare word is a hint. */
function strengthOf({ spelled, open }: Pattern): number {
  return (0.3 + 0.5 * Math.min(1, spelled / 30)) * (open ? OPEN : 1);
}

function byStrength(a: Known, b: Known): number {
  return b.strength - a.strength || (a.source < b.source ? -1 : 1);
}

function trigramsOf(text: string): Set<string> {
  const trigrams = new Set<string>();
  for (let start = 0; start + 3 <= text.length; start++) trigrams.add(text.slice(start, start + 3));
  return trigrams;
}

export function shortened(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  return `${text.slice(0, MOST_TEXT / 2)}\n${text.slice(-MOST_TEXT / 2)}`;
}
