import { appendFile, open } from "node:fs/promises";
import { join } from "node:path";

/** `spending.jsonl` of a sweep's folder: one line per settled call, for limits; what counts is the journal of calls. */
interface Line {
  /** `<cell>/<attempt>` */
  run: string;
  /** Of the call and its try: a line written twice counts once. */
  id: string;
  /** Null: no price is known. */
  usd: number | null;
  tokens: number;
}

export interface Spent {
  usd: number;
  tokens: number;
}

interface Ledger {
  read: number;
  seen: Set<string>;
  runs: Map<string, Spent>;
  all: Spent;
}

/** What was read of each ledger so far; others append meanwhile, so each look reads on from there. */
const ledgers = new Map<string, Ledger>();

export async function noteSpending(folder: string, line: Line): Promise<void> {
  await appendFile(join(folder, "spending.jsonl"), `${JSON.stringify(line)}\n`);
}

/** What was spent by now, by all attempts of all cells, and by one attempt. */
export async function spentSoFar(folder: string, run?: string): Promise<{ sweep: Spent; run: Spent }> {
  const { all, runs } = await readLedger(folder);
  return { sweep: { ...all }, run: { ...(runs.get(run ?? "") ?? { usd: 0, tokens: 0 }) } };
}

/** What each attempt has spent by now, by `<cell>/<attempt>`. */
export async function spentByRun(folder: string): Promise<ReadonlyMap<string, Spent>> {
  return (await readLedger(folder)).runs;
}

async function readLedger(folder: string): Promise<Ledger> {
  const path = join(folder, "spending.jsonl");
  const ledger = ledgers.get(folder) ?? emptyLedger();
  ledgers.set(folder, ledger);
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (file === null) {
    ledgers.delete(folder);
    return emptyLedger();
  }
  try {
    const { size } = await file.stat();
    // The folder was made anew under the same name.
    if (size < ledger.read) Object.assign(ledger, emptyLedger());
    const from = ledger.read;
    const chunk = Buffer.alloc(size - from);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, from);
    const whole = chunk.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    // Two that read at once must not count a line twice.
    if (ledger.read !== from) return ledger;
    for (const line of chunk.subarray(0, whole).toString("utf8").split("\n")) add(ledger, line);
    ledger.read += whole;
    return ledger;
  } finally {
    await file.close();
  }
}

function add(ledger: Ledger, text: string): void {
  if (text === "") return;
  const { run, id, usd, tokens } = JSON.parse(text) as Line;
  if (ledger.seen.has(`${run} ${id}`)) return;
  ledger.seen.add(`${run} ${id}`);
  const ofRun = ledger.runs.get(run) ?? { usd: 0, tokens: 0 };
  ledger.runs.set(run, ofRun);
  for (const sum of [ofRun, ledger.all]) {
    sum.usd += usd ?? 0;
    sum.tokens += tokens;
  }
}

function emptyLedger(): Ledger {
  return { read: 0, seen: new Set(), runs: new Map(), all: { usd: 0, tokens: 0 } };
}
