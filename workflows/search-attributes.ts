import type { SearchAttributePair } from "@temporalio/common";
import type { CellRef, RunOutcome } from "./types.ts";

/** By these, runs are found in Temporal's own lists: `BenchSweep = "…" AND BenchVerdict = "tests_failed"`. */
export function runAttributes(sweep: string, suite: string, cell: CellRef): SearchAttributePair[] {
  return [
    keyword("BenchSweep", sweep),
    keyword("BenchSuite", suite),
    keyword("BenchSystem", cell.arm.system),
    keyword("BenchTier", cell.tier ?? "none"),
  ];
}

export function verdictAttribute(outcome: RunOutcome): SearchAttributePair[] {
  return [keyword("BenchVerdict", outcome.cause ?? (outcome.ebsr ? "built" : "not_built"))];
}

function keyword(name: string, value: string): SearchAttributePair {
  return { key: { name, type: "KEYWORD" }, value };
}
