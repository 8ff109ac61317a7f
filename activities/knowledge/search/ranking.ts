import type { Telemetry, Unit } from "../unit.ts";
import type { SignalMatch } from "./signals.ts";

/** `published` is the formula of the paper's code; `default` is ours. docs/knowledge.md tells them apart. */
export const PROFILES = ["default", "published"] as const;
export type Profile = (typeof PROFILES)[number];

export type Tier = "golden" | "normal" | "cold";

export interface Standing {
  tier: Tier;
  /** How much it helps when it is used, as far as is known. */
  rate: number;
}

/** From how many hits on the paper's tiers speak. */
const PUBLISHED_HITS = 5;
const PUBLISHED_BOOST = { golden: 1.5, normal: 1, cold: 0.6 } as const;

/** Successes over hits: every return counts as a failure until it is judged one way or the other. */
export function publishedStanding({ hits, successes }: Telemetry): Standing {
  const rate = successes / Math.max(hits, 1);
  if (hits < PUBLISHED_HITS) return { tier: "normal", rate };
  return { tier: rate >= 0.6 ? "golden" : rate < 0.3 ? "cold" : "normal", rate };
}

export function publishedComposite(similarity: number, telemetry: Telemetry): number {
  const { tier, rate } = publishedStanding(telemetry);
  return similarity * (1 + rate) * PUBLISHED_BOOST[tier];
}

/** As many judged uses as the prior is worth: a unit that was used once is not yet good or bad. */
const PRIOR_USES = 4;
const PRIOR_RATE = 0.5;
const TIER_USES = 3;

/**
 * Successes over judged uses, drawn to a half while there are few. A hit that nobody judged says nothing: being shown
 * often must not make a unit worse.
 */
export function defaultStanding({ successes, failures }: Telemetry): Standing {
  const uses = successes + failures;
  const rate = (successes + PRIOR_USES * PRIOR_RATE) / (uses + PRIOR_USES);
  if (uses < TIER_USES) return { tier: "normal", rate };
  return { tier: rate >= 0.65 ? "golden" : rate <= 0.35 ? "cold" : "normal", rate };
}

export function defaultComposite(relevance: number, telemetry: Telemetry): number {
  const { tier, rate } = defaultStanding(telemetry);
  return relevance * (0.5 + rate) * (tier === "cold" ? 0.6 : 1);
}

const KEYWORD_STRENGTH = 0.35;
/** What likeness is worth when a unit names its messages and this is none of them. */
const OTHER_MESSAGE = 0.6;

/**
 * How sure it is that a unit speaks of a text, 0 to 1: similarity above the embedding's minimum, a matching pattern and
 * keywords that occur are independent hints, each of which may be enough.
 */
export function relevanceOf(
  unit: Unit,
  lowerText: string,
  similarity: number,
  minimum: number,
  signal: SignalMatch | undefined,
): number {
  const { keywords, regex } = unit.signals;
  const other = signal === undefined && regex.length > 0 ? OTHER_MESSAGE : 1;
  const near = other * Math.max(0, (similarity - minimum) / (1 - minimum));
  const found = keywords.filter((keyword) => lowerText.includes(keyword.toLowerCase())).length;
  const named = keywords.length === 0 ? 0 : (KEYWORD_STRENGTH * found) / keywords.length;
  return 1 - (1 - near) * (1 - (signal?.strength ?? 0)) * (1 - named);
}
