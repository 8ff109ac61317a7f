import { join } from "node:path";
import { writePlan } from "../../activities/store/sweep-folder.ts";
import { folderName } from "../../benchmarks/cells.ts";
import type { LoadedSuite } from "../../benchmarks/load.ts";
import type { Gold, Task } from "../../benchmarks/schema.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { writeFileAtomically } from "../../results/atomic-file.ts";

/**
 * Writes all that a sweep needs into its folder: the chosen tasks with their gold tests (`suite.json`, `gold/`) and,
 * last, the plan, whose presence says that the folder is whole.
 */
export async function writeSweepFolder(
  folder: string,
  plan: SweepPlan,
  suite: LoadedSuite,
  tasks: readonly Task[],
): Promise<void> {
  const kept: Task[] = [];
  for (const task of tasks) kept.push({ ...task, gold: await keepGold(folder, suite, task) });
  await writeFileAtomically(
    join(folder, "suite.json"),
    `${JSON.stringify({ ...suite.suite, tasks: kept }, null, 1)}\n`,
  );
  await writePlan(folder, plan);
}

async function keepGold(folder: string, suite: LoadedSuite, task: Task): Promise<Gold | null> {
  const ids = await suite.goldIds(task);
  if (ids === null) return task.gold;
  const file = `gold/${folderName(task.id)}.txt`;
  await writeFileAtomically(join(folder, file), `${ids.join("\n")}\n`);
  return { file };
}
