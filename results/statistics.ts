import { gammaln, mean, median, quantileSorted, sampleWithReplacement } from "simple-statistics";

/** A point estimate with the ends of its 95 % interval. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

/** Standard normal quantiles at 0.975 (two-sided 5 %) and 0.80 (power). */
const Z_95 = 1.959963984540054;
const Z_POWER_80 = 0.8416212335729143;
const RESAMPLES = 4000;
const SEED = 20260101;

/**
 * Wilson score interval of a share, 95 % (Wilson 1927; without continuity correction). Null for n = 0.
 * `n` may be an effective sample size and need not be whole.
 */
export function wilson(successes: number, n: number): Estimate | null {
  if (n === 0) return null;
  const share = successes / n;
  const z2 = Z_95 * Z_95;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z_95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  const low = share === 0 ? 0 : Math.max(0, centre - half);
  const high = share === 1 ? 1 : Math.min(1, centre + half);
  return { value: share, low: Math.min(low, share), high: Math.max(high, share) };
}

/**
 * Share over all runs with an interval clustered by repository: runs of one repository are alike, so they count as
 * fewer than their number. Wilson at the effective size n / design effect, with the linearised cluster variance
 * (Franco, Little, Louis and Slud 2019, J. Survey Statistics and Methodology 7:334). One run per repository gives plain
 * Wilson. At 0 and 1 the design effect can't be estimated; each repository then counts once (ours, the cautious end).
 */
export function clusteredRate(clusters: readonly { successes: number; n: number }[]): Estimate | null {
  const filled = clusters.filter((cluster) => cluster.n > 0);
  const n = filled.reduce((sum, cluster) => sum + cluster.n, 0);
  const successes = filled.reduce((sum, cluster) => sum + cluster.successes, 0);
  if (n === 0 || n === filled.length) return wilson(successes, n);
  const share = successes / n;
  const size = effectiveSize(filled, n, share);
  const interval = wilson(share * size, size);
  return interval === null ? null : { ...interval, value: share };
}

function effectiveSize(
  clusters: readonly { successes: number; n: number }[],
  n: number,
  share: number,
): number {
  const count = clusters.length;
  if (share === 0 || share === 1) return count;
  if (count === 1) return 1;
  const spread = clusters.reduce((sum, c) => sum + (c.successes - c.n * share) ** 2, 0);
  const variance = ((count / (count - 1)) * spread) / (n * n);
  return variance === 0 ? n : Math.min(n, Math.max(1, (share * (1 - share)) / variance));
}

/** Deterministic source of numbers in [0, 1): mulberry32 (public domain, Tommy Ettinger). */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export interface BootstrapOptions {
  statistic?: (values: number[]) => number;
  resamples?: number;
  seed?: number;
}

/**
 * Percentile bootstrap (Efron 1979), 95 %, over independent values: one per repository, so that repeats of a repository
 * are drawn together. Same input and seed, same interval. Null for no values; where resampling can show no variation
 * (one value, or all equal) the interval is unknown and null is returned for its ends.
 */
export function bootstrap(
  values: readonly number[],
  { statistic = mean, resamples = RESAMPLES, seed = SEED }: BootstrapOptions = {},
): { value: number; low: number | null; high: number | null } | null {
  if (values.length === 0) return null;
  const value = statistic([...values]);
  if (values.every((other) => other === values[0])) return { value, low: null, high: null };
  const random = randomSource(seed);
  const drawn = Array.from({ length: resamples }, () =>
    statistic(sampleWithReplacement([...values], values.length, random)),
  ).sort((a, b) => a - b);
  return { value, low: quantileSorted(drawn, 0.025), high: quantileSorted(drawn, 0.975) };
}

/**
 * Mean of fractions 0–1, one per repository, with its bootstrap interval. Where that shows no variation, the Wilson
 * interval of the same mean stands in: no set of fractions varies more than one of zeros and ones (ours; otherwise
 * "all passed" would claim a width of 0).
 */
export function meanFraction(fractions: readonly number[], options: BootstrapOptions = {}): Estimate | null {
  const drawn = bootstrap(fractions, options);
  if (drawn === null) return null;
  if (drawn.low !== null && drawn.high !== null)
    return { value: drawn.value, low: drawn.low, high: drawn.high };
  return wilson(drawn.value * fractions.length, fractions.length);
}

/** Median, or null for no values. */
export function medianOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : median([...values]);
}

/** Arithmetic mean, or null for no values. */
export function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : mean([...values]);
}

/**
 * McNemar's exact test, two-sided p (binomial with 1/2 over the discordant pairs, the smaller tail doubled).
 * `onlyA` and `onlyB` count the pairs that only one side passed; concordant pairs carry no information.
 */
export function mcnemarExact(onlyA: number, onlyB: number): number {
  const n = onlyA + onlyB;
  const fewer = Math.min(onlyA, onlyB);
  let tail = 0;
  for (let k = 0; k <= fewer; k++) tail += Math.exp(logChoose(n, k) - n * Math.LN2);
  return Math.min(1, 2 * tail);
}

function logChoose(n: number, k: number): number {
  return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1);
}

/**
 * Smallest difference between two rates on the same n repositories that McNemar's test would have found with 80 % power
 * at the two-sided 5 % level, where `discordant` is the expected share of discordant pairs (Connor 1987, Biometrics
 * 43:207: √n·δ = z₀.₉₇₅·√ψ + z₀.₈·√(ψ − δ²)). A difference needs at least its own share of discordant pairs, so ψ ≥ δ;
 * and never below the 6 one-sided pairs without which the exact test can't reach 5 %. Null when n is too small for any.
 */
export function smallestDetectable(n: number, discordant: number): number | null {
  const needed = (difference: number) => {
    const share = Math.max(discordant, difference);
    const spread =
      Z_95 * Math.sqrt(share) + Z_POWER_80 * Math.sqrt(Math.max(0, share - difference * difference));
    return (spread / difference) ** 2;
  };
  const floor = n === 0 ? Number.POSITIVE_INFINITY : 6 / n;
  if (floor > 1 || needed(1) > n) return null;
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (needed(middle) > n) low = middle;
    else high = middle;
  }
  return Math.max(high, floor);
}

/**
 * pass@k: chance that at least one of k runs drawn from n runs with c successes succeeded, 1 − C(n−c, k) / C(n, k)
 * (Chen et al. 2021, the unbiased estimator). Null for fewer than k runs.
 */
export function passAtK(n: number, c: number, k: number): number | null {
  const allFail = drawAll(n, n - c, k);
  return allFail === null ? null : 1 - allFail;
}

/** pass^k: chance that all k runs drawn succeeded, C(c, k) / C(n, k) (τ-bench, Yao et al. 2024). Null for fewer than k. */
export function passHatK(n: number, c: number, k: number): number | null {
  return drawAll(n, c, k);
}

/** Chance that k draws without replacement from n all come from a subset of the given size. */
function drawAll(n: number, subset: number, k: number): number | null {
  if (k > n || k < 1) return null;
  let chance = 1;
  for (let draw = 0; draw < k; draw++) chance *= Math.max(0, subset - draw) / (n - draw);
  return chance;
}
