import type { Check } from "./check.ts";
import { isFixable } from "./fix.ts";

const MARKS = { ok: "ok", missing: "MISSING", warning: "warning" } as const;
const COLOURS = { ok: "32", missing: "31", warning: "33" } as const;

/** One line per check, remedies below those that have one, and a last line that sums up. */
export function renderChecks(checks: readonly Check[], colour: boolean): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.flatMap((check) => {
    const mark = MARKS[check.state].padEnd(7);
    const shown = colour ? `\u001b[${COLOURS[check.state]}m${mark}\u001b[0m` : mark;
    const line = `${shown}  ${check.name.padEnd(width)}  ${check.found}`;
    return check.remedy === null ? [line] : [line, `${" ".repeat(9 + width)}  → ${check.remedy}`];
  });
  return `${[...lines, "", summary(checks)].join("\n")}\n`;
}

function summary(checks: readonly Check[]): string {
  const missing = checks.filter((check) => check.state === "missing");
  if (missing.length === 0) return "This machine is ready.";
  const named = `Missing: ${missing.map((check) => check.name).join(", ")}.`;
  return missing.some(isFixable)
    ? `${named} Remedy: pnpm bench doctor --fix`
    : `${named} See the remedies above.`;
}
