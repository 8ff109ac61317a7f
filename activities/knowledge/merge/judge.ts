import { renderAtoms } from "../atoms/render.ts";
import type { Unit } from "../unit.ts";

interface Judgement {
  same: boolean;
  reason: string;
}

/** Decides whether two near units speak of the same problem; a model can, or the rules below. */
export type Judge = (known: Unit, incoming: Unit, signal?: AbortSignal) => Promise<Judgement>;

const ALIKE = 0.5;

/**
 * The same problem in the same language has a pattern in common, or half of the keywords, and is answered alike: units that
 * match the same message and do different things are two answers, both of which may be worth a try.
 */
export const judgeByRules: Judge = async (known, incoming) => {
  const [a, b] = [known.signals, incoming.signals];
  if (a.applicability.lang !== b.applicability.lang) return { same: false, reason: "another language" };
  const patterns = a.regex.filter((regex) => b.regex.includes(regex)).length;
  const keywords = overlap(lower(a.keywords), lower(b.keywords));
  if (patterns === 0 && keywords < ALIKE) return { same: false, reason: "other signals" };
  const [does, also] = [effectOf(known), effectOf(incoming)];
  if (does.length > 0 && also.length > 0 && overlap(does, also) < ALIKE) {
    return { same: false, reason: "other remedies" };
  }
  const why = patterns > 0 ? `${patterns} patterns in common` : `keywords ${keywords.toFixed(2)} alike`;
  return { same: true, reason: why };
};

/** What the atoms do, whatever they are called: equal effects are equal texts. */
function effectOf({ atoms }: Unit): string[] {
  const { environment, umask, commands } = renderAtoms(atoms);
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [...commands, ...variables, ...(umask === null ? [] : [`umask ${umask}`])];
}

/** Shared items over all items. */
export function overlap(a: readonly string[], b: readonly string[]): number {
  const [left, right] = [new Set(a), new Set(b)];
  const shared = [...left].filter((item) => right.has(item)).length;
  const all = left.size + right.size - shared;
  return all === 0 ? 0 : shared / all;
}

function lower(texts: readonly string[]): string[] {
  return texts.map((text) => text.toLowerCase());
}
