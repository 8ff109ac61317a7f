import { GROUP_COLUMNS } from "./csv.ts";
import { amount, duration, NOT_MEASURED, oneLine, percent, percentRange } from "./format.ts";
import type { Group } from "./metrics.ts";
import { type Cell, renderTextTable, type TextOptions } from "./text-table.ts";

type RateName = "ebsr" | "essr" | "essr_collected" | "pass_rate" | "self_claim";

interface Column {
  name: string;
  align: "left" | "right";
  cell: (group: Group) => Cell;
  /** Columns that would say nothing in this table are left out. */
  shown?: (groups: readonly Group[]) => boolean;
}

const COLUMNS: Column[] = [
  { name: "system", align: "left", cell: ({ system }) => ({ text: oneLine(system) }) },
  {
    name: "arm",
    align: "left",
    cell: ({ arm }) => ({ text: oneLine(arm) }),
    shown: (groups) => groups.some(({ system, arm }) => system !== arm),
  },
  { name: "tier", align: "left", cell: ({ tier }) => ({ text: oneLine(tier) }) },
  { name: "n", align: "right", cell: ({ n }) => ({ text: String(n) }) },
  rateColumn("EBSR %", "ebsr", () => true),
  rateColumn("ESSR %", "essr", (groups) => measured(groups, "essr") || !measured(groups, "essr_collected")),
  rateColumn("passed/collected %", "essr_collected", (groups) => measured(groups, "essr_collected")),
  rateColumn("pass %", "pass_rate", (groups) => measured(groups, "pass_rate")),
  rateColumn("claim %", "self_claim", () => true),
  {
    name: "tokens in/out",
    align: "right",
    cell: ({ tokens_input, tokens_output }) => ({
      text: tokens_input === null ? NOT_MEASURED : `${amount(tokens_input)}/${amount(tokens_output)}`,
    }),
    shown: (groups) => groups.some(({ tokens_input }) => tokens_input !== null),
  },
  {
    name: "USD",
    align: "right",
    cell: ({ cost_usd }) => ({
      text: cost_usd === null ? NOT_MEASURED : cost_usd.toFixed(cost_usd < 1 ? 4 : 2),
    }),
    shown: (groups) => groups.some(({ tokens_input }) => tokens_input !== null),
  },
  {
    name: "time",
    align: "right",
    cell: ({ wall_seconds_median }) => ({ text: duration(wall_seconds_median) }),
  },
  {
    name: "infra",
    align: "right",
    cell: ({ infrastructure }) =>
      infrastructure > 0 ? { text: String(infrastructure), style: "warning" } : { text: "0" },
  },
];

function rateColumn(name: string, rate: RateName, shown: NonNullable<Column["shown"]>): Column {
  return {
    name,
    align: "right",
    shown,
    cell: (group) => {
      const range = percentRange(group[rate], group[`${rate}_low`], group[`${rate}_high`]);
      return range === ""
        ? { text: percent(group[rate]) }
        : { text: percent(group[rate]), range: `[${range}]` };
    },
  };
}

function measured(groups: readonly Group[], rate: RateName): boolean {
  return groups.some((group) => group[rate] !== null);
}

/**
 * The table at the end of a sweep: one line per group, rates in percent with their 95 % intervals in brackets, median
 * wall time, infrastructure failures in the last column. Intervals are dropped first when `width` (100) is too narrow.
 */
export function renderTable(groups: readonly Group[], options: TextOptions = {}): string {
  const columns = COLUMNS.filter(({ shown }) => shown === undefined || shown(groups));
  const rows = groups.map((group) =>
    columns.map(({ cell }, index) => (index < 3 && group.tier === "all" ? strong(cell(group)) : cell(group))),
  );
  return renderTextTable({ columns, rows }, options);
}

function strong(cell: Cell): Cell {
  return { ...cell, style: "strong" };
}

/** The same groups for scripts: a header and one line per group, tab-separated, every field of `summary.csv`. */
export function renderTabSeparated(groups: readonly Group[]): string {
  const line = (values: unknown[]) => values.map((value) => oneLine(String(value ?? ""))).join("\t");
  return [line(GROUP_COLUMNS), ...groups.map((group) => line(GROUP_COLUMNS.map((name) => group[name])))].join(
    "\n",
  );
}
