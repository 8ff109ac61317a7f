import type { Captures } from "../atoms/fill.ts";
import type { Base } from "../base.ts";
import type { Unit } from "../unit.ts";
import {
  defaultComposite,
  defaultStanding,
  type Profile,
  publishedComposite,
  publishedStanding,
  relevanceOf,
  type Tier,
} from "./ranking.ts";
import { type SignalMatch, shortened } from "./signals.ts";

/** What is looked for: the text of a situation (command, error, summary), and where it arose as far as is known. */
export interface Situation {
  text: string;
  language?: string;
  /** Such as 3.11. */
  python?: string;
}

export interface SearchOptions {
  profile: Profile;
  limit: number;
  /** Least similarity; else the embedding's own, or 0.45 under the published profile. */
  minimum?: number;
  /** Units that must not be returned: those tried before, and those left out (leave-out.ts). */
  exclude?: ReadonlySet<string>;
}

export interface Candidate {
  unit: Unit;
  /** Cosine; 0 when only a pattern found it. */
  similarity: number;
  /** The pattern that matches, if one does. */
  regex: string | null;
  captures: Captures;
  /** What it is ranked by. */
  composite: number;
  tier: Tier;
  rate: number;
}

const PUBLISHED_MINIMUM = 0.45;
/** So many neighbours are weighed for each that is returned, since patterns and telemetry change the order. */
const POOL = 5;
const WRONG_PYTHON = 0.85;

/**
 * The units that speak of a situation, best first, equally good ones by id. The same base, situation and options give
 * the same list.
 */
export async function search(base: Base, situation: Situation, options: SearchOptions): Promise<Candidate[]> {
  const text = shortened(situation.text);
  const [vector] = await base.embedding.embed([text]);
  if (vector === undefined) throw new Error("the embedding gave no vector");
  const published = options.profile === "published";
  const minimum = options.minimum ?? (published ? PUBLISHED_MINIMUM : base.embedding.minimum);
  const near = await base.store.nearest(vector, {
    limit: published ? options.limit : options.limit * POOL,
    minimum,
    ...(options.exclude && { exclude: options.exclude }),
  });
  const similarities = new Map(near.map(({ id, similarity }) => [id, similarity]));
  const signals = published ? new Map<string, SignalMatch>() : (await base.signals()).match(text);
  const ids = new Set([...similarities.keys(), ...signals.keys()]);
  const units = await base.store.get([...ids].filter((id) => !options.exclude?.has(id)));
  return units
    .filter((unit) => published || speaksOf(unit, situation))
    .map((unit) => {
      const similarity = similarities.get(unit.id) ?? 0;
      const signal = signals.get(unit.id);
      return published
        ? publishedCandidate(unit, similarity)
        : defaultCandidate(unit, situation, similarity, minimum, signal);
    })
    .sort((a, b) => b.composite - a.composite || (a.unit.id < b.unit.id ? -1 : 1))
    .slice(0, options.limit);
}

function publishedCandidate(unit: Unit, similarity: number): Candidate {
  const composite = publishedComposite(similarity, unit.telemetry);
  return { unit, similarity, regex: null, captures: {}, composite, ...publishedStanding(unit.telemetry) };
}

function defaultCandidate(
  unit: Unit,
  situation: Situation,
  similarity: number,
  minimum: number,
  signal: SignalMatch | undefined,
): Candidate {
  const relevance = relevanceOf(unit, situation.text.toLowerCase(), similarity, minimum, signal);
  const fit = fitsPython(unit, situation.python) ? 1 : WRONG_PYTHON;
  return {
    unit,
    similarity,
    regex: signal?.regex ?? null,
    captures: signal?.captures ?? {},
    composite: defaultComposite(relevance * fit, unit.telemetry),
    ...defaultStanding(unit.telemetry),
  };
}

function speaksOf({ signals }: Unit, { language }: Situation): boolean {
  const { lang } = signals.applicability;
  return language === undefined || lang === "" || lang.toLowerCase() === language.toLowerCase();
}

function fitsPython({ signals }: Unit, python: string | undefined): boolean {
  const { python: versions } = signals.applicability;
  if (python === undefined || versions.length === 0) return true;
  return versions.some((version) => version === python || python.startsWith(`${version}.`));
}
