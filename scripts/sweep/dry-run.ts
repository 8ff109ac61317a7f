import { cellId } from "../../benchmarks/cells.ts";
import type { Task } from "../../benchmarks/schema.ts";
import { counted } from "../../results/format.ts";
import type { SweepOptions } from "../cli/options.ts";
import { printRows } from "../cli/rows.ts";
import { freeBytes } from "../stack/free-space.ts";
import type { Wish } from "./plan.ts";

/** Bytes of the unpacked default base, and seconds to make it, measured once on two cores. */
const BASE_BYTES = 610 * 2 ** 20;
const BASE_SECONDS = 60;
/** Sandbox creation, source delivery and teardown of one run's two sandboxes. */
const OVERHEAD_SECONDS = 5;
/** A run whose suite recorded nothing about its length. */
const UNKNOWN_SECONDS = 180;

/** Cells, needs and a rough estimate of disk and time; nothing is made or started. */
export async function showDryRun(options: SweepOptions, wish: Wish): Promise<number> {
  const cells = Array.from({ length: options.repeat }, (_, before) =>
    wish.tasks.flatMap((task) =>
      wish.arms.map(({ id, system }) => ({
        cell: cellId(task.id, id, before + 1),
        seconds_estimate: estimate(task, system),
      })),
    ),
  ).flat();
  const seconds = cells.reduce((sum, cell) => sum + cell.seconds_estimate, 0);
  const shown = {
    suite: wish.suite.suite.suite,
    digest: wish.suite.digest,
    systems: [...new Set(wish.arms.map(({ system }) => system))],
    arms: wish.arms.map(({ id }) => id),
    cells: cells.length,
    parallel: options.parallel,
    seconds_estimate: Math.round(seconds / options.parallel + BASE_SECONDS),
    disk_bytes_ceiling: BASE_BYTES + options.disk * options.parallel,
    disk_bytes_free: await freeBytes(options.state),
    memory_bytes_ceiling: options.memory * options.parallel,
  };
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ ...shown, plan: cells }, null, 2)}\n`);
    return 0;
  }
  printRows(cells, false);
  process.stderr.write(
    `${counted(shown.cells, "cell")} of ${shown.suite}, ${shown.parallel} at a time: about ${Math.ceil(shown.seconds_estimate / 60)} min; ` +
      `at most ${gib(shown.disk_bytes_ceiling)} of disk (${gib(shown.disk_bytes_free)} free) ` +
      `and ${gib(shown.memory_bytes_ceiling)} of memory\n`,
  );
  return 0;
}

function estimate(task: Task, system: string): number {
  if (system === "nop") return OVERHEAD_SECONDS;
  const facts = task.facts as { oracle?: { seconds?: number } };
  // Set up twice (live and clean replay), and tests once.
  return OVERHEAD_SECONDS + 2 * (facts.oracle?.seconds ?? UNKNOWN_SECONDS);
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
