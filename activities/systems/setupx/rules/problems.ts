import type { Report } from "./look.ts";

/** Something that an environment lacks: `key` names it (`module:yaml`), `text` is the message itself. */
export interface Problem {
  key: string;
  text: string;
  /** Tests, or modules of tests, that it stops. */
  count: number;
  /** Stops the collection of tests, not only their success. */
  collection: boolean;
}

/** What messages speak of something that could be installed or set, the most certain first. */
const SIGNS: readonly (readonly [string, RegExp])[] = [
  ["module", /No module named '?([A-Za-z_][\w.]*)'?/],
  ["fixture", /fixture '(\w+)' not found/],
  ["library", /(?:lib[\w.+-]+\.so[\w.]*): cannot open shared object file/],
  [
    "metadata",
    /PackageNotFoundError: ([\w.-]+)|No package metadata was found for '?([\w.-]+)|DistributionNotFound/,
  ],
  [
    "program",
    /No such file or directory: '([A-Za-z][\w+-]*)'|(?:^|[\s:])([A-Za-z][\w+-]*): (?:command )?not found/,
  ],
  [
    "database",
    /(?:role|database|user) "?[\w-]+"? does not exist|Access denied for user|Unknown database|No database selected|authentication failed/,
  ],
  [
    "service",
    /[Cc]onnection refused|Can't connect to (?:local )?(?:MySQL|server)|could not connect to server|connection to server .*failed|Error 111 connecting/,
  ],
  [
    "plugin",
    /async def functions are not natively supported|unrecognized arguments|Unknown pytest\.mark|not found in `markers`|unknown hook/,
  ],
  [
    "variable",
    /KeyError: '[A-Z][A-Z0-9_]{3,}'|environment variable|ImproperlyConfigured|settings are not configured/,
  ],
  ["locale", /unsupported locale setting|ZoneInfoNotFoundError|No time zone found/],
  ["name", /cannot import name '\w+' from|module '[\w.]+' has no attribute '\w+'/],
];

/** Failures of other kinds are the tests' own as long as they are few. */
const OWN_SHARE = 0.2;

/** What stands between a report and a good environment, the gravest first. */
export function problemsOf(report: Report): Problem[] {
  const { counts, groups, tail, exit } = report;
  const found = new Map<string, Problem>();
  const add = (problem: Problem) => {
    const known = found.get(problem.key);
    if (known === undefined) found.set(problem.key, problem);
    else known.count += problem.count;
  };
  for (const { kind, count, text, where } of groups) {
    const key = keyOf(text) ?? (kind === "collect" ? `collect:${where}` : null);
    if (key !== null && (kind === "collect" || isGrave(key, count, counts))) {
      add({ key, count, text, collection: kind === "collect" });
    }
  }
  if (counts.collected === 0 && counts.collect === 0) {
    add({ key: keyOf(tail) ?? `pytest:${exit ?? "time"}`, count: 1, text: tail, collection: true });
  }
  const bad = counts.failed + counts.error;
  if (bad > OWN_SHARE * (bad + counts.passed) && bad > 2 && found.size === 0) {
    const text = groups.slice(0, 5).map((group) => `${group.count} tests: ${group.text}`);
    add({ key: "share", count: bad, text: text.join("\n"), collection: false });
  }
  return [...found.values()].sort(
    (a, b) => Number(b.collection) - Number(a.collection) || b.count - a.count || (a.key < b.key ? -1 : 1),
  );
}

/** A name that does not fit is a matter of versions when it hits many tests; else it is what a test is about. */
function isGrave(key: string, count: number, { passed, failed, error }: Report["counts"]): boolean {
  return !/^(?:name|variable|plugin)/.test(key) || count > 0.05 * (passed + failed + error);
}

function keyOf(text: string): string | null {
  for (const [kind, sign] of SIGNS) {
    const match = sign.exec(text);
    if (match === null) continue;
    const name = match.slice(1).find((group) => group !== undefined);
    return kind === "module" && name !== undefined
      ? `module:${name}`
      : `${kind}:${name ?? lastWords(match[0])}`;
  }
  return null;
}

function lastWords(text: string): string {
  return text
    .trim()
    .replaceAll(/[^\w.-]+/g, "-")
    .slice(-50);
}
