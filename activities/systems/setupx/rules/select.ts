import type { SelectInput, SelectOutput } from "../roles/select.ts";

const NAMED = 0.5;
/** The reason of a choice that is more than likeness of words. */
export const VERY_MESSAGE = "It is about this very message.";

/**
 * The Selector as rules: a unit fits when the situation has the very message that it is about, or half of the words that it
 * names; units that nothing can be done with come last. Likeness alone is not enough: that is what noise has as well.
 */
export function selectByRules({ situation, candidates, most }: SelectInput): SelectOutput {
  const text = situation.toLowerCase();
  const selected = candidates
    .map((candidate) => {
      const { keywords, pattern, runs, composite } = candidate;
      const found = keywords.filter((keyword) => text.includes(keyword.toLowerCase())).length;
      const named = keywords.length === 0 ? 0 : found / keywords.length;
      return { candidate, fits: pattern !== null || named >= NAMED, named, runs, composite };
    })
    .filter(({ fits }) => fits)
    .sort((a, b) => Number(b.runs) - Number(a.runs) || b.composite - a.composite)
    .slice(0, most)
    .map(({ candidate: { unit, pattern, composite }, named }) => ({
      unit,
      reason: pattern === null ? `It names ${Math.round(named * 100)} % of its words.` : VERY_MESSAGE,
      confidence: Math.min(1, composite),
    }));
  return { selected };
}
