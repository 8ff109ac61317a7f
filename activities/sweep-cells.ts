import { cellsOf } from "../benchmarks/cells.ts";
import { writeResults as writeResultFiles } from "../results/write-results.ts";
import type { CellPage, CellRef } from "../workflows/types.ts";
import { openSweep } from "./attempt.ts";
import { refusalOfCell } from "./model/limits.ts";
import { attemptsOf, latestRecord, readRecords } from "./store/sweep-folder.ts";

/**
 * The next cells that need a run, read from the run folders alone, so that a sweep goes on from its folder when the
 * Temporal database is gone. A cell whose latest record is valid is finished and never run again; one that ended for
 * infrastructure reasons gets new attempts.
 */
export async function nextCells(input: { folder: string; from: number; limit: number }): Promise<CellPage> {
  const { plan, suite } = await openSweep(input.folder);
  const cells = cellsOf(plan);
  const tasks = new Map(suite.suite.tasks.map((task) => [task.id, task]));
  const open: CellRef[] = [];
  let settled = 0;
  let index = input.from;
  for (; index < cells.length && open.length < input.limit; index++) {
    const cell = cells[index];
    if (cell === undefined) break;
    const record = await latestRecord(input.folder, cell.id);
    if (record?.validity === "valid") {
      settled += 1;
      continue;
    }
    const attempts = await attemptsOf(input.folder, cell.id);
    open.push({
      cell: cell.id,
      task: cell.task,
      tier: tasks.get(cell.task)?.tier ?? null,
      language: tasks.get(cell.task)?.language ?? "python",
      arm: cell.arm,
      attemptsBefore: attempts.at(-1) ?? 0,
    });
  }
  return { cells: open, next: index < cells.length ? index : null, total: cells.length, settled };
}

/** Why the sweep can't pay for one more cell of a model's arm while the `running` ones go on, or null. */
export async function refuseCell(input: { folder: string; running: string[] }): Promise<string | null> {
  const { plan } = await openSweep(input.folder);
  return refusalOfCell(input.folder, plan, input.running);
}

export async function writeResults(input: { folder: string }): Promise<void> {
  const { plan } = await openSweep(input.folder);
  const records = await readRecords(input.folder, plan);
  await writeResultFiles(input.folder, { sweep: plan.sweep, suite: plan.lock.suite, records });
}
