import { distillByModel } from "../../activities/knowledge/distill/by-model.ts";
import { distillByRules } from "../../activities/knowledge/distill/distill.ts";
import type { Judge } from "../../activities/knowledge/merge/judge.ts";
import { judgeByModel } from "../../activities/knowledge/merge/judge-by-model.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import type { ModelOptions } from "../cli/model-options.ts";
import { askerOf } from "./asker.ts";
import { lessonsOf } from "./lessons.ts";

export interface Distilled {
  /** Runs that were read. */
  lessons: number;
  units: Unit[];
  /** The model that is to merge them as well; left out: rules do. */
  judge?: Judge;
}

/** What the runs of sweeps teach, by the model of `--model` or by rules. Throws UsageError. */
export async function distilledUnits(
  options: ModelOptions & { state: string },
  base: string,
  sweeps: readonly string[],
  signal: AbortSignal,
): Promise<Distilled> {
  const lessons = (await Promise.all(sweeps.map((sweep) => lessonsOf(options, sweep)))).flat();
  const asker = await askerOf(options, signal);
  if (asker === null) return { lessons: lessons.length, units: lessons.flatMap(distillByRules) };
  const units: Unit[] = [];
  for (const lesson of lessons) {
    units.push(...(await distillByModel(lesson, asker(`distill/${lesson.sweep}/${lesson.run}`))));
  }
  const judge = judgeByModel(asker(`merge/${base}/${sweeps.join("+")}`));
  return { lessons: lessons.length, units, judge };
}
