import type { Facts } from "./facts.ts";

const DAY = 86_400_000;
/** A younger release still lives with what is new today. */
const OLD_DAYS = 365;
/** Releases are made before they are uploaded, and of what was uploaded just before them. */
const SLACK_DAYS = 4;
/** When most of what is compiled has wheels for a new Python. */
const SETTLED_DAYS = 200;

/**
 * The dates as of which dependencies are resolved, best first; null is today. An old release was tested with what there
 * was then; where that does not fit the image's Python, with what there was when that Python had settled.
 */
export function erasOf({ date, today, python }: Facts): (string | null)[] {
  const made = Date.parse(date);
  const now = Date.parse(today);
  if (Number.isNaN(made) || Number.isNaN(now) || now - made < OLD_DAYS * DAY) return [null];
  const settled = pythonDate(python) + SETTLED_DAYS * DAY;
  const then = made + SLACK_DAYS * DAY;
  return then < settled && settled < now ? [dayOf(then), dayOf(settled), null] : [dayOf(then), null];
}

/** Later than the era, for what can't be had as of it. */
export function laterThan(era: string, { python, today }: Facts): string {
  const settled = dayOf(pythonDate(python) + SETTLED_DAYS * DAY);
  return settled > era ? settled : today;
}

/** Since 3.9 a minor release comes each October (PEP 602). */
function pythonDate(python: string): number {
  const minor = Number(/^3\.(\d+)$/.exec(python)?.[1] ?? 9);
  return Date.UTC(2011 + Math.max(9, minor), 9, 5);
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
