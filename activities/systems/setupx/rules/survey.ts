import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Turn } from "../roles/turn.ts";
import { emptyFacts, type Facts, readFacts } from "./facts.ts";
import { commandOf, purposeOf } from "./history.ts";

/** In the order in which they build on each other; one script to Python. */
const PARTS = ["read", "declared", "environments", "tests", "survey"];

/** Looks at the repository without changing it or running any of its code; prints one line, `SURVEY {…}` (facts.ts). */
export const SURVEY = `python3 -W ignore - <<'END_OF_SURVEY'\n${PARTS.map(partText).join("\n")}\nEND_OF_SURVEY`;

function partText(name: string): string {
  return readFileSync(join(import.meta.dirname, "survey", `${name}.py`), "utf8").trim();
}

/**
 * What the survey found; null as long as it may still be made: it has not run yet, or failed for want of a Python that
 * may be installed. After that the facts are empty.
 */
export function surveyed(turns: readonly Turn[]): Facts | null {
  const runs = turns.filter((turn) => commandOf(turn) === SURVEY);
  const good = runs.find(({ success }) => success);
  if (good !== undefined) return readFacts(good.result?.stdout ?? "") ?? emptyFacts();
  const python = turns.find((turn) => purposeOf(turn) === "python");
  return runs.length < 2 && python?.success !== false ? null : emptyFacts();
}
