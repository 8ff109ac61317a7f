import { readRecords } from "../../activities/store/sweep-folder.ts";
import { nearest } from "../../benchmarks/nearest.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { compareArms, type Side } from "../../results/compare.ts";
import { renderComparison } from "../../results/compare-table.ts";
import type { CommonOptions } from "../cli/options.ts";
import { textOptions } from "../cli/text-options.ts";
import { planByName } from "../sweep/open.ts";

/** `bench compare SWEEP`, or `SWEEP/ARM SWEEP/ARM`: the first side paired with each other one on the same repositories. */
export async function compareSweeps(options: CommonOptions, names: readonly string[]): Promise<number> {
  const sides = (await Promise.all(names.map((name) => sidesOf(options, name)))).flat();
  const [first, ...others] = sides;
  if (first === undefined || others.length === 0) {
    throw new UsageError(
      `compare ${names.join(" ")}: there is only ${first?.label ?? "nothing"}; name two of SWEEP/ARM, or a sweep of several arms`,
    );
  }
  const comparisons = others.map((other) => compareArms(first, other));
  if (options.json) {
    process.stdout.write(`${JSON.stringify(comparisons, null, 2)}\n`);
    return 0;
  }
  process.stdout.write(`${comparisons.map((one) => renderComparison(one, textOptions())).join("\n\n")}\n`);
  return 0;
}

async function sidesOf(options: CommonOptions, name: string): Promise<Side[]> {
  const [sweep = "", arm] = name.split("/");
  const { plan, folder } = await planByName(options, sweep);
  const records = await readRecords(folder, plan);
  const arms = plan.lock.arms.map(({ id }) => id);
  if (arm !== undefined && !arms.includes(arm)) {
    throw new UsageError(`sweep ${sweep} has no arm ${arm}; nearest: ${nearest(arm, arms).join(", ")}`);
  }
  return (arm === undefined ? arms : [arm]).map((id) => ({
    label: `${sweep}/${id}`,
    records: records.filter((record) => record.arm === id),
  }));
}
