/** What the rules' verifier and main agent tell each other, in the words of a hint. */
export interface Verdict {
  collected: number;
  passed: number;
  failed: number;
  /** Modules of tests that could not be collected. */
  uncollected: number;
  /** Keys of problems (problems.ts), the gravest first. */
  keys: string[];
}

/** The verdict in a verifier's hint; null when a verifier of another kind wrote it. */
export function readVerdict(hint: string): Verdict | null {
  const counts = /\(collected (\d+), passed (\d+), failed (\d+), skipped \d+, not collected (\d+)\)/.exec(
    hint,
  );
  if (counts === null) return null;
  const [collected = 0, passed = 0, failed = 0, uncollected = 0] = counts.slice(1).map(Number);
  const rest = hint.slice((counts.index ?? 0) + counts[0].length);
  const keys = [...rest.matchAll(/\[([^\]\n]+)\]/g)].map((match) => match[1] ?? "");
  return { collected, passed, failed, uncollected, keys };
}

const SETTLED = "nothing more can be done about: ";

/** Problems that were tried in vain: the verifier shall look past them. */
export function settledMessage(keys: readonly string[]): string {
  return keys.length === 0 ? "" : `${SETTLED}${keys.map((key) => `[${key}]`).join(" ")}`;
}

export function settledIn(message: string): ReadonlySet<string> {
  const start = message.indexOf(SETTLED);
  if (start < 0) return new Set();
  return new Set([...message.slice(start).matchAll(/\[([^\]\n]+)\]/g)].map((match) => match[1] ?? ""));
}
