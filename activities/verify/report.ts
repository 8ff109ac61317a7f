import { createHmac, timingSafeEqual } from "node:crypto";
import type { Readable } from "node:stream";

/** An event of the runner (pytest/bench_runner.py and bench_plugin.py). Unknown ones are ignored. */
export type ReportEvent =
  | { event: "session"; pytest: string; python: string; rootdir: string }
  | { event: "module"; id: string; count: number }
  | { event: "collect_error"; id: string; text: string | null }
  | { event: "item"; id: string }
  | { event: "collected"; count: number }
  | { event: "start"; id: string }
  | { event: "result"; id: string; outcome: RawOutcome; seconds: number; text: string | null }
  | { event: "interrupted"; text: string | null }
  | { event: "internal_error"; text: string | null }
  | { event: "finish"; exit: number }
  | { event: "end"; exit: number | null; error: string | null };

export type RawOutcome = "passed" | "xpassed" | "failed" | "error" | "skipped" | "xfailed";

export interface RawResult {
  id: string;
  outcome: RawOutcome;
  seconds: number;
  text: string | null;
}

/** What one run of the runner said. */
export interface Session {
  pytest: string | null;
  python: string | null;
  rootdir: string | null;
  /** Ids of the collected tests, in the order they run; whole when `collected`. */
  items: string[];
  collected: boolean;
  /** Tests seen in modules so far, whether or not collection came to its end. */
  seen: number;
  collectionErrors: { id: string; text: string | null }[];
  results: RawResult[];
  /** The test that had started and has no result. */
  running: string | null;
  interrupted: string | null;
  internalError: string | null;
  /** Exit status as pytest's last word had it; null when the session did not come to its end. */
  exit: number | null;
  /** Why pytest could not be run at all. */
  error: string | null;
}

/**
 * Reads a report line by line and keeps what is signed with the key, each signature resting on the one before. Lines
 * that anyone else wrote, or that were cut, count for nothing, and without its predecessor a line counts for nothing
 * as well.
 */
export async function readReport(report: Readable, key: string): Promise<Session> {
  const session = emptySession();
  const secret = Buffer.from(key, "hex");
  let last = "";
  for await (const line of linesOf(report)) {
    const signature = line.slice(0, 64);
    const body = line.slice(65);
    if (!/^[0-9a-f]{64}$/.test(signature) || line[64] !== " ") continue;
    const expected = createHmac("sha256", secret).update(last).update(body).digest();
    if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) continue;
    last = signature;
    apply(session, JSON.parse(body) as ReportEvent);
  }
  return session;
}

/** No line of the runner's comes near it: a test's id and 2,000 characters of text. */
const LONGEST_LINE = 4 << 20;

/** Lines end in a newline. One that is too long is passed over without being held in memory. */
async function* linesOf(report: Readable): AsyncGenerator<string> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of report) {
    const bytes = Buffer.from(chunk);
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      const part = bytes.subarray(start, end);
      if (size + part.length <= LONGEST_LINE) yield Buffer.concat([...kept, part]).toString();
      [kept, size, start] = [[], 0, end + 1];
    }
    const rest = bytes.subarray(start);
    size += rest.length;
    if (size <= LONGEST_LINE) kept.push(rest);
    else kept = [];
  }
}

function emptySession(): Session {
  return {
    pytest: null,
    python: null,
    rootdir: null,
    items: [],
    collected: false,
    seen: 0,
    collectionErrors: [],
    results: [],
    running: null,
    interrupted: null,
    internalError: null,
    exit: null,
    error: null,
  };
}

function apply(session: Session, event: ReportEvent): void {
  switch (event.event) {
    case "session":
      session.pytest = event.pytest;
      session.python = event.python;
      session.rootdir = event.rootdir;
      break;
    case "module":
      session.seen += event.count;
      break;
    case "collect_error":
      session.collectionErrors.push({ id: event.id, text: event.text });
      break;
    case "item":
      session.items.push(event.id);
      break;
    case "collected":
      session.collected = event.count === session.items.length;
      break;
    case "start":
      session.running = event.id;
      break;
    case "result":
      session.results.push({
        id: event.id,
        outcome: event.outcome,
        seconds: event.seconds,
        text: event.text,
      });
      session.running = null;
      break;
    case "interrupted":
      session.interrupted = event.text ?? "interrupted";
      break;
    case "internal_error":
      session.internalError = event.text ?? "internal error of pytest";
      break;
    case "finish":
      session.exit = event.exit;
      break;
    case "end":
      session.exit = event.exit;
      session.error = event.error;
      break;
  }
}
