import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { cellsOf } from "../../benchmarks/cells.ts";
import { type SweepPlan, sweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import { type RunRecord, runRecord } from "../../results/record.ts";
import type { AttemptKey } from "../../workflows/types.ts";

/** `runs/<cell>/<attempt>/` of a sweep's folder: everything one attempt leaves. */
export function attemptFolder(key: AttemptKey): string {
  return join(key.folder, "runs", key.cell, String(key.attempt));
}

/** Throws UsageError, one line, for a file that is damaged or another version's. */
export async function readPlan(folder: string): Promise<SweepPlan> {
  const file = join(folder, "sweep.json");
  const text = await readFile(file, "utf8");
  const remedy = "restore it, or remove the sweep's folder and start it anew";
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file}: not JSON (${(error as Error).message}); ${remedy}`, { cause: error });
  }
  const { data, error } = sweepPlan.safeParse(content);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new UsageError(`${file}: ${issue?.path.join(".") || "top level"}: ${issue?.message}; ${remedy}`, {
    cause: error,
  });
}

export async function writePlan(folder: string, plan: SweepPlan): Promise<void> {
  await writeFileAtomically(join(folder, "sweep.json"), `${JSON.stringify(plan, null, 2)}\n`);
}

/** Writes an attempt's record once; a second publication of the same attempt changes nothing and returns false. */
export async function writeRecordOnce(key: AttemptKey, record: RunRecord): Promise<boolean> {
  const path = join(attemptFolder(key), "record.json");
  const draft = `${path}.${randomUUID()}.draft`;
  await writeFileAtomically(draft, `${JSON.stringify(record)}\n`);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

/** The numbers of a cell's attempts, with or without a record, in order. */
export async function attemptsOf(folder: string, cell: string): Promise<number[]> {
  const names = await namesIn(join(folder, "runs", cell));
  return names
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** The record of the cell's latest attempt that has one, or null. */
export async function latestRecord(folder: string, cell: string): Promise<RunRecord | null> {
  for (const attempt of (await attemptsOf(folder, cell)).reverse()) {
    const record = await readRecord({ folder, sweep: "", cell, attempt });
    if (record !== null) return record;
  }
  return null;
}

export async function readRecord(key: AttemptKey): Promise<RunRecord | null> {
  const path = join(attemptFolder(key), "record.json");
  try {
    return runRecord.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new UsageError(`${path}: not a readable record; move it away to run this attempt's cell again`, {
      cause: error,
    });
  }
}

/** The latest record of each cell that has one. */
export async function readRecords(folder: string, plan: SweepPlan): Promise<RunRecord[]> {
  const records = await Promise.all(cellsOf(plan).map((cell) => latestRecord(folder, cell.id)));
  return records.filter((record) => record !== null);
}

/** Claims the attempt's folder before anything is done in it, so that no later attempt can reuse its number. */
export async function claimAttempt(key: AttemptKey): Promise<void> {
  await mkdir(attemptFolder(key), { recursive: true });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
