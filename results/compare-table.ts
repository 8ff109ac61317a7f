import type { Comparison, MeanComparison, RateComparison } from "./compare.ts";
import { amount, NOT_MEASURED, oneLine } from "./format.ts";
import { type Cell, renderTextTable, type TextOptions } from "./text-table.ts";

const NAMES: Record<RateComparison["metric"] | MeanComparison["metric"], string> = {
  ebsr: "EBSR %",
  pass_rate: "pass %",
  self_claim: "claim %",
  essr: "ESSR %",
  essr_collected: "passed/collected %",
  tokens: "tokens (setup)",
  steps: "steps",
  wall_seconds: "time s (median)",
};

/**
 * A comparison for people: one line per metric (both sides, difference with its 95 % interval, p, smallest difference that
 * could have been shown), then the repositories where the two disagree.
 */
export function renderComparison(comparison: Comparison, options: TextOptions = {}): string {
  const { a, b, repositories, unpaired, rates, means } = comparison;
  const alone = unpaired.a.length + unpaired.b.length;
  const title = `A ${oneLine(a)} against B ${oneLine(b)} on ${repositories} repositories that both ran`;
  const lines = [alone === 0 ? `${title}.` : `${title} (${alone} that only one ran are left out).`];
  if (repositories === 0) return lines.join("\n");
  const names = ["n", "A", "B", "A − B", "p", "A only", "B only", "smallest"];
  const table = renderTextTable(
    {
      columns: [
        { name: "metric", align: "left" },
        ...names.map((name) => ({ name, align: "right" as const })),
      ],
      rows: [...rates.map(rateRow), ...means.map(meanRow)],
    },
    options,
  );
  lines.push("", table, ...rates.flatMap(discordant));
  return lines.join("\n");
}

function rateRow(rate: RateComparison): Cell[] {
  return [
    ...common(rate, (value) => (value * 100).toFixed(1)),
    { text: rate.p < 0.001 ? "<0.001" : rate.p.toFixed(3) },
    { text: String(rate.aOnly.length) },
    { text: String(rate.bOnly.length) },
    { text: rate.smallest === null ? NOT_MEASURED : (rate.smallest * 100).toFixed(1) },
  ];
}

function meanRow(mean: MeanComparison): Cell[] {
  const fraction = mean.metric === "essr" || mean.metric === "essr_collected";
  const none = { text: "" };
  return [...common(mean, fraction ? (value) => (value * 100).toFixed(1) : amount), none, none, none, none];
}

function common(row: RateComparison | MeanComparison, show: (value: number) => string): Cell[] {
  const signed = (value: number) => (value > 0 ? `+${show(value)}` : show(value).replace("-", "−"));
  const difference: Cell = { text: signed(row.difference) };
  if (row.low !== null && row.high !== null) difference.range = `[${signed(row.low)} … ${signed(row.high)}]`;
  return [
    { text: NAMES[row.metric] },
    { text: String(row.n) },
    { text: show(row.a) },
    { text: show(row.b) },
    difference,
  ];
}

function discordant(rate: RateComparison): string[] {
  const list = (side: string, tasks: readonly string[]) =>
    tasks.length === 0 ? [] : [`${NAMES[rate.metric]}, ${side} better: ${tasks.map(oneLine).join(", ")}`];
  const lines = [...list("A", rate.aOnly), ...list("B", rate.bOnly)];
  return lines.length === 0 ? [] : ["", ...lines];
}
