import type { RunRecord } from "../../results/record.ts";
import { bench, essence, recordsOf } from "./bench.ts";

const SWEEP = [
  "--suite",
  "pypi-smoke",
  "--repos",
  "h11,itsdangerous",
  "--system",
  "oracle,nop",
  "--parallel",
  "2",
];

/** What a driver must not change in a record, cell by cell. */
export function comparable(records: RunRecord[]) {
  return records
    .map((record) => ({
      ...essence(record),
      harness: record.harness.version,
      sandbox: { losses: record.sandbox.losses, left: record.sandbox.left },
    }))
    .toSorted((one, other) => one.cell.localeCompare(other.cell));
}

/** The records of one small sweep on local sandboxes and on another driver's. Throws with its output when one fails. */
export async function sameSweep(
  state: string,
  options: readonly string[],
): Promise<{ local: unknown[]; other: unknown[]; drivers: string[] }> {
  const records: RunRecord[][] = [];
  for (const [id, extra] of [
    ["local", []],
    ["other", options],
  ] as const) {
    const ran = await bench(state, [...SWEEP, ...extra, "--id", id]);
    if (ran.exitCode !== 0) throw new Error(`${id}: exit ${ran.exitCode}\n${ran.all}`);
    records.push(await recordsOf(state, id));
  }
  const [local = [], other = []] = records;
  const drivers = [...new Set(other.map(({ sandbox }) => sandbox.driver))];
  return { local: comparable(local), other: comparable(other), drivers };
}
