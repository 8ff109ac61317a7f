import { byTask, passedOfCollected, setupTokens } from "./metrics.ts";
import type { RunRecord } from "./record.ts";
import { bootstrap, mcnemarExact, meanOf, medianOf, smallestDetectable } from "./statistics.ts";

/** One side of a comparison: the records that count of one (system, arm), of any sweep. */
export interface Side {
  label: string;
  records: readonly RunRecord[];
}

interface Difference {
  /** Repositories that both sides measured. */
  n: number;
  a: number;
  b: number;
  /** a − b, with the ends of its 95 % interval; null where no variation was seen. */
  difference: number;
  low: number | null;
  high: number | null;
}

export interface RateComparison extends Difference {
  metric: "ebsr" | "pass_rate" | "self_claim";
  /** McNemar's exact two-sided p over repositories. */
  p: number;
  /** Repositories where only one side is better: the discordant pairs. */
  aOnly: string[];
  bOnly: string[];
  /** Smallest difference that this n could have shown (80 % power, given the share of discordant pairs); null: none. */
  smallest: number | null;
}

export interface MeanComparison extends Difference {
  metric: "essr" | "essr_collected" | "tokens" | "steps" | "wall_seconds";
  /** How repositories are summed up: time is long-tailed, so its median difference is given. */
  statistic: "mean" | "median";
}

export interface Comparison {
  a: string;
  b: string;
  /** Repositories that both sides ran, and those that only one ran: these are left out. */
  repositories: number;
  unpaired: { a: string[]; b: string[] };
  rates: RateComparison[];
  means: MeanComparison[];
}

type Pair = { task: string; a: RunRecord[]; b: RunRecord[] };

/**
 * Paired comparison of two arms on the repositories that both ran. Rates: McNemar's exact test and the discordant pairs;
 * all: the difference with a bootstrap over repositories. With repeats a repository's value is its mean over them, and
 * McNemar's test becomes the sign test on these (the same thing for single runs). Infrastructure failures count as failed
 * in rates and ESSR, as everywhere; tokens, steps and time pair graded runs only.
 */
export function compareArms(a: Side, b: Side): Comparison {
  const [ofA, ofB] = [byTask(a.records), byTask(b.records)];
  const tasks = [...ofA.keys()].filter((task) => ofB.has(task)).sort();
  const pairs = tasks.map((task) => ({ task, a: ofA.get(task) ?? [], b: ofB.get(task) ?? [] }));
  return {
    a: a.label,
    b: b.label,
    repositories: pairs.length,
    unpaired: {
      a: [...ofA.keys()].filter((task) => !ofB.has(task)).sort(),
      b: [...ofB.keys()].filter((task) => !ofA.has(task)).sort(),
    },
    rates: [
      compareRate("ebsr", pairs, (record) => record.ebsr),
      compareRate("pass_rate", measured(pairs, "verdict"), (record) => record.verdict === "not_guilty"),
      compareRate("self_claim", measured(pairs, "self_claim"), (record) => record.self_claim === true),
    ].filter((comparison) => comparison !== null),
    means: [
      compareMean("essr", "mean", pairs, (record) => record.essr),
      compareMean("essr_collected", "mean", pairs, passedOfCollected),
      compareMean("tokens", "mean", pairs, graded(tokensOf)),
      compareMean(
        "steps",
        "mean",
        pairs,
        graded((record) => record.steps),
      ),
      compareMean(
        "wall_seconds",
        "median",
        pairs,
        graded((record) => record.wall_seconds),
      ),
    ].filter((comparison) => comparison !== null),
  };
}

/** All pairs when both sides measure the property at all, else none: a side that never says has no rate. */
function measured(pairs: readonly Pair[], property: "verdict" | "self_claim"): readonly Pair[] {
  const says = (side: "a" | "b") =>
    pairs.some((pair) => pair[side].some((record) => record[property] !== null));
  return says("a") && says("b") ? pairs : [];
}

function graded(measure: (record: RunRecord) => number | null): (record: RunRecord) => number | null {
  return (record) => (record.validity === "valid" ? measure(record) : null);
}

function tokensOf(record: RunRecord): number | null {
  const [input, output] = [setupTokens([record], "input"), setupTokens([record], "output")];
  return input === null || output === null ? null : input + output;
}

function compareRate(
  metric: RateComparison["metric"],
  pairs: readonly Pair[],
  holds: (record: RunRecord) => boolean,
): RateComparison | null {
  const values = valuesOf(pairs, (record) => Number(holds(record)));
  const difference = differenceOf(values, "mean");
  if (difference === null) return null;
  const aOnly = values.filter(({ a, b }) => a > b).map(({ task }) => task);
  const bOnly = values.filter(({ a, b }) => b > a).map(({ task }) => task);
  const discordant = (aOnly.length + bOnly.length) / values.length;
  return {
    metric,
    ...difference,
    p: mcnemarExact(aOnly.length, bOnly.length),
    aOnly,
    bOnly,
    smallest: smallestDetectable(values.length, discordant),
  };
}

function compareMean(
  metric: MeanComparison["metric"],
  statistic: MeanComparison["statistic"],
  pairs: readonly Pair[],
  measure: (record: RunRecord) => number | null,
): MeanComparison | null {
  const difference = differenceOf(valuesOf(pairs, measure), statistic);
  return difference === null ? null : { metric, statistic, ...difference };
}

function valuesOf(pairs: readonly Pair[], measure: (record: RunRecord) => number | null) {
  return pairs.flatMap((pair) => {
    const mean = (records: RunRecord[]) => meanOf(records.map(measure).filter((value) => value !== null));
    const [a, b] = [mean(pair.a), mean(pair.b)];
    return a === null || b === null ? [] : [{ task: pair.task, a, b }];
  });
}

function differenceOf(
  values: readonly { a: number; b: number }[],
  statistic: "mean" | "median",
): Difference | null {
  const summed = (numbers: readonly number[]) =>
    (statistic === "mean" ? meanOf(numbers) : medianOf(numbers)) ?? 0;
  const drawn = bootstrap(
    values.map(({ a, b }) => a - b),
    { statistic: summed },
  );
  if (drawn === null) return null;
  const [a, b] = [summed(values.map((value) => value.a)), summed(values.map((value) => value.b))];
  return { n: values.length, a, b, difference: drawn.value, low: drawn.low, high: drawn.high };
}
