import { type LeaveOut, leaveOut, measuredOf } from "../../activities/knowledge/leave-out.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { loadSuite } from "../../benchmarks/load.ts";

/** What must be left out of a search for systems that are measured on these suites. Throws UsageError. */
export async function leaveOutSuites(units: readonly Unit[], suites: readonly string[]): Promise<LeaveOut> {
  const loaded = await Promise.all(suites.map((name) => loadSuite(name)));
  return leaveOut(
    units,
    loaded.flatMap(({ suite }) => suite.tasks.map(measuredOf)),
  );
}
