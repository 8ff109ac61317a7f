import { quote } from "../../../knowledge/atoms/quote.ts";
import type { Facts } from "./facts.ts";

/** The choices that failures make. */
export interface Choices {
  era: string | null;
  /** Distributions that can't be built as of the era, and how often that was tried. */
  relaxed: ReadonlyMap<string, number>;
}

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

/** What makes uv resolve as of the era. */
export function eraFlags(facts: Facts, { era, relaxed }: Choices, more = ""): string {
  if (era === null) return "";
  const later = [...relaxed].map(([name, times]) => {
    const date = times > 1 ? facts.today : laterThan(era, facts);
    return ` --exclude-newer-package ${quote(`${name}=${date}T00:00:00Z`)}`;
  });
  const settled = laterThan(era, facts);
  // Before this Python had settled there are hardly wheels for it.
  const wheels = settled < facts.today ? ` --wheels-until ${settled}` : "";
  return `${wheels} --exclude-newer ${era}T00:00:00Z${more}${later.join("")}`;
}

/** setuptools installs editably (PEP 660) since then. */
const EDITABLE_SINCE = "2022-09-01";

/** The era's flags for an editable install: its build tools have to know how. */
export function editableFlags(facts: Facts, choices: Choices): string {
  const { era } = choices;
  if (era === null || era >= EDITABLE_SINCE || choices.relaxed.has("setuptools"))
    return eraFlags(facts, choices);
  return eraFlags(facts, choices, ` --exclude-newer-package setuptools=${laterThan(era, facts)}T00:00:00Z`);
}
