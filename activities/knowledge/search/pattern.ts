/** A compiled signal. */
export interface Pattern {
  expression: RegExp;
  /** A text in lower case that every match holds; empty where none is known. */
  literal: string;
  /** How many characters are spelled out: the more, the less it matches by chance. */
  spelled: number;
  /** Has a named group that takes any name: it holds for many problems. */
  open: boolean;
}

/** A repeated group that repeats inside needs exponential time on some texts; so do neighbouring wildcards, nearly. */
const EXPLOSIVE =
  /\((?:[^()\\]|\\.)*(?:[+*]|\{\d*,\d*\})(?:[^()\\]|\\.)*\)(?:[+*]|\{\d*,\d*\})|(?:\.[*+].*){5}/;

const OPEN_GROUP = /\(\?<\w+>[^()]*(?:\\[wWsSdD]|\[|\.)/;

/** Compiles a signal, written for Python or JavaScript; null for what is neither, or would run for ever. */
export function compilePattern(source: string): Pattern | null {
  const plain = source.replace(/^\(\?[aimsux]+\)/, "").replaceAll("(?P<", "(?<");
  if (plain === "" || EXPLOSIVE.test(plain)) return null;
  try {
    const expression = new RegExp(plain, "im");
    // One that matches nothing at all says nothing of a message.
    if (expression.test("")) return null;
    return { expression, ...spelledOut(plain), open: OPEN_GROUP.test(plain) };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

interface Scan {
  depth: number;
  run: string;
  runs: string[];
  spelled: number;
  alternatives: boolean;
}

function spelledOut(source: string): { literal: string; spelled: number } {
  const scan: Scan = { depth: 0, run: "", runs: [], spelled: 0, alternatives: false };
  for (const [token] of source.matchAll(
    /\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<\w+>|[:=!]|<[=!])|\{\d*,?\d*\}|./gs,
  )) {
    readToken(scan, token);
  }
  endRun(scan);
  const longest = scan.runs.toSorted((a, b) => b.length - a.length)[0] ?? "";
  return { literal: scan.alternatives ? "" : longest.toLowerCase(), spelled: scan.spelled };
}

function readToken(scan: Scan, token: string): void {
  if (token.startsWith("(")) scan.depth++;
  else if (token === ")") scan.depth--;
  else if (token === "|") scan.alternatives ||= scan.depth === 0;
  else if (/^[?*{]/.test(token)) scan.run = scan.run.slice(0, -1);
  else if (/^(?:\\[^\w\s]|[^\\[\](){}|.+*?^$])$/s.test(token)) {
    scan.spelled++;
    // What stands in a group may be left out.
    if (scan.depth === 0) {
      scan.run += token.at(-1);
      return;
    }
  }
  endRun(scan);
}

function endRun(scan: Scan): void {
  if (scan.run.length > 2) scan.runs.push(scan.run);
  scan.run = "";
}
