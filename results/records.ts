import { readFile } from "node:fs/promises";
import { compareText } from "./metrics.ts";
import { type RunRecord, runRecord } from "./record.ts";

/**
 * Records of a `records.jsonl` text, one per line (blank lines are allowed). `file` is only named in errors.
 * Throws one clear line (file, line, key, remedy) for the first row that is not a record.
 */
export function parseRecords(text: string, file: string): RunRecord[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    return [parseRecord(line, `${file}:${index + 1}`)];
  });
}

/** One record from its JSON text; `where` names it in errors. */
function parseRecord(json: string, where: string): RunRecord {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error(`${where}: not JSON (${(error as Error).message}); ${REMEDY}`, { cause: error });
  }
  const parsed = runRecord.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.path.join(".") || "record";
  throw new Error(`${where}: "${key}" is wrong (${issue?.message}); ${REMEDY}`, { cause: parsed.error });
}

const REMEDY =
  "delete the file and run `bench report` to rebuild it from the run folders, or use the version that wrote it";

/** Reads and checks a `records.jsonl`; errors as `parseRecords`, and one clear line when the file can't be read. */
export async function readRecords(file: string): Promise<RunRecord[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}; name a sweep that has started`, { cause: error });
  }
  return parseRecords(text, file);
}

/**
 * The attempt that counts of each cell: the highest. Attempts are append-only, so that the same attempt twice is the same
 * record; the first is kept. Ordered by cell, whatever order they finished in.
 */
export function recordsThatCount(records: readonly RunRecord[]): RunRecord[] {
  const kept = new Map<string, RunRecord>();
  for (const record of records) {
    const other = kept.get(record.cell);
    if (other === undefined || record.attempt > other.attempt) kept.set(record.cell, record);
  }
  return [...kept.values()].sort((a, b) => compareText(a.cell, b.cell));
}

/** The text of a `records.jsonl`, keys in the schema's order, so that equal records are equal bytes. */
export function renderRecords(records: readonly RunRecord[]): string {
  return records.map((record) => `${JSON.stringify(runRecord.parse(record))}\n`).join("");
}
