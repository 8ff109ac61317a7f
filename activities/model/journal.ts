import { mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { AttemptKey } from "../../workflows/types.ts";
import { attemptFolder } from "../store/sweep-folder.ts";
import type { Form } from "./forms.ts";
import type { Usage } from "./usage.ts";

/** The n-th call, from 1, of a role in one part of a step of an attempt. With the attempt's key it names the call. */
export interface CallId {
  role: string;
  step: number;
  part: number;
  n: number;
}

/** Such as `setup-0007-1`, or `verifier-0007.3-1` where the step has parts. */
export function callName({ role, step, part, n }: CallId): string {
  return `${role}-${String(step).padStart(4, "0")}${part === 0 ? "" : `.${part}`}-${n}`;
}

/** What came of a call in the end; each is a result that a repeated call gets again. */
export type Outcome =
  | { kind: "answer"; text: string; cut: boolean }
  /** The model or its filter refuses to answer. */
  | { kind: "refused"; message: string }
  /** The request is longer than the model takes. */
  | { kind: "overflow"; message: string }
  /** The endpoint does not know this form of structured output. */
  | { kind: "unsupported"; message: string };

/** Written before the request is sent: from here on it may have been charged. */
export interface Intent {
  event: "intent";
  try: number;
  at: string;
  model: string;
  endpoint: string;
  form: Form;
  /** sha256 of the request as sent; its messages' texts lie in the store under their digests. */
  request: string;
  messages: { role: string; digest: string }[];
  /** Rough, for pricing a call of which nothing else is known. */
  estimated_input: number;
}

/** The try failed and another one may follow. `charged`: whether the endpoint may have charged it all the same. */
interface Fault {
  event: "fault";
  try: number;
  at: string;
  cause: string;
  message: string;
  charged: boolean;
}

export interface Receipt {
  event: "receipt";
  try: number;
  at: string;
  form: Form;
  outcome: Outcome;
  /** Null: the endpoint reported none. */
  usage: Usage | null;
  /** Of the try that succeeded, without waiting for its turn. */
  seconds: number;
  /** `cache`: an equal request was answered before, and nothing was charged now. */
  from: "endpoint" | "cache";
}

export type Entry = Intent | Fault | Receipt;

export interface Call extends CallId {
  entries: Entry[];
}

function callFile(key: AttemptKey, id: CallId): string {
  return join(callsFolder(key), `${callName(id)}.jsonl`);
}

/** Appends one line and flushes it. A last line that a crash cut is replaced. */
export async function appendEntry(key: AttemptKey, id: CallId, entry: Entry): Promise<void> {
  await mkdir(callsFolder(key), { recursive: true });
  const file = await open(callFile(key, id), "a+");
  try {
    const content = await file.readFile();
    const whole = content.lastIndexOf(0x0a) + 1;
    if (whole < content.length) await file.truncate(whole);
    await file.appendFile(`${JSON.stringify(entry)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function readCall(key: AttemptKey, id: CallId): Promise<Entry[]> {
  return entriesOf(callFile(key, id));
}

/** All calls of an attempt, in the order of their files' names. */
export async function readCalls(key: AttemptKey): Promise<Call[]> {
  const names = await readdir(callsFolder(key)).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const calls: Call[] = [];
  for (const name of names.sort()) {
    const [, role, step, part, n] = /^(.+)-(\d+)(?:\.(\d+))?-(\d+)\.jsonl$/.exec(name) ?? [];
    if (role === undefined) continue;
    const entries = await entriesOf(join(callsFolder(key), name));
    calls.push({ role, step: Number(step), part: Number(part ?? 0), n: Number(n), entries });
  }
  return calls;
}

export function receiptOf(entries: readonly Entry[]): Receipt | null {
  return entries.find((entry) => entry.event === "receipt") ?? null;
}

/**
 * The tries that nobody knows the end of, or that broke off after they were sent: each may have been charged without an
 * answer having come.
 */
export function unsettledTries(entries: readonly Entry[]): Intent[] {
  const settled = new Set(
    entries.flatMap((entry) =>
      entry.event === "receipt" || (entry.event === "fault" && !entry.charged) ? [entry.try] : [],
    ),
  );
  return entries.filter((entry) => entry.event === "intent" && !settled.has(entry.try)) as Intent[];
}

export function nextTry(entries: readonly Entry[]): number {
  return Math.max(0, ...entries.map((entry) => entry.try)) + 1;
}

async function entriesOf(path: string): Promise<Entry[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1)
    .map((line, index) => parseEntry(line, `${path}:${index + 1}`));
}

function parseEntry(line: string, where: string): Entry {
  try {
    return JSON.parse(line) as Entry;
  } catch (error) {
    const remedy = "move the attempt's folder away to run its cell again";
    throw new UsageError(`${where}: not JSON (${(error as Error).message}); ${remedy}`, { cause: error });
  }
}

function callsFolder(key: AttemptKey): string {
  return join(attemptFolder(key), "calls");
}
