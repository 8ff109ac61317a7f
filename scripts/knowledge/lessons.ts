import { join } from "node:path";
import type { Lesson } from "../../activities/knowledge/distill/distill.ts";
import { measuredOf } from "../../activities/knowledge/leave-out.ts";
import { readRecords } from "../../activities/store/sweep-folder.ts";
import { readTrajectory } from "../../activities/store/trajectory.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { existingPlan, sweepFolder } from "../sweep/folder.ts";

/** The runs of a sweep whose environment held in the clean replay: only these teach. Throws UsageError. */
export async function lessonsOf({ state }: { state: string }, sweep: string): Promise<Lesson[]> {
  const folder = sweepFolder({ state }, sweep);
  const plan = await existingPlan(folder);
  if (plan === null)
    throw new UsageError(`no sweep ${sweep} in ${folder}; list them with: pnpm bench status`);
  const { suite } = await loadSuite(join(folder, "suite.json"));
  const tasks = new Map(suite.tasks.map((task) => [task.id, task]));
  const good = (await readRecords(folder, plan)).filter(({ ebsr }) => ebsr);
  const lessons = good.map(async ({ cell, attempt, task: id }): Promise<Lesson[]> => {
    const task = tasks.get(id);
    if (task === undefined) return [];
    const steps = await readTrajectory({ folder, sweep, cell, attempt });
    const repository = measuredOf(task);
    return [{ repository, language: task.language, sweep, run: `${cell}/${attempt}`, steps }];
  });
  return (await Promise.all(lessons)).flat();
}
