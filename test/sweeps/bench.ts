import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { RunRecord } from "../../results/record.ts";
import { parseRecords } from "../../results/records.ts";
import { testBase } from "../support/base.ts";
import { testStateFolder } from "../support/state.ts";

const BENCH = fileURLToPath(new URL("../../scripts/bench.ts", import.meta.url));

/** A fresh state folder that shares the tests' base file systems and tools; removed, with its stack, by `end`. */
export async function freshState(): Promise<{ state: string; end: () => Promise<void> }> {
  await testBase();
  const state = await mkdtemp(join(tmpdir(), "setup-bench-sweep-"));
  for (const shared of ["bases", "tools"])
    await symlink(join(testStateFolder(), shared), join(state, shared));
  return {
    state,
    async end() {
      await bench(state, ["down"]);
      await rm(state, { recursive: true, force: true });
    },
  };
}

/** Runs the command line to its end; a failure is a result. */
export function bench(state: string, args: readonly string[]) {
  return execa(process.execPath, ["--disable-warning=ExperimentalWarning", BENCH, ...args], {
    env: { BENCH_STATE: state, NO_COLOR: "1" },
    reject: false,
    all: true,
  });
}

/** Starts the command line in the background. */
export function startBench(state: string, args: readonly string[], stderr: "inherit" | "pipe" = "inherit") {
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", BENCH, ...args], {
    env: { ...process.env, BENCH_STATE: state, NO_COLOR: "1" },
    stdio: ["ignore", "ignore", stderr],
  });
}

export async function recordsOf(state: string, sweep: string): Promise<RunRecord[]> {
  const file = join(state, "sweeps", sweep, "records.jsonl");
  return parseRecords(await readFile(file, "utf8"), file);
}

/** What must be equal in two runs of the same cell: all but times, names of the sweep and flaky detail. */
export function essence(record: RunRecord) {
  const { sweep: _, attempt: __, wall_seconds: ___, working_seconds: ____, ...rest } = record;
  return {
    ...rest,
    replay: rest.replay && { exit: rest.replay.exit },
    tests: rest.tests && { ...rest.tests, seconds: 0 },
  };
}

/** Processes, sandboxes and mounts that a state folder's sweeps have left. */
export async function leftOvers(state: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (words.includes(state) && Number(pid) !== process.pid)
      found.push(`process ${pid}: ${words.replaceAll("\0", " ")}`);
  }
  const mounts = await readFile("/proc/self/mounts", "utf8");
  found.push(...mounts.split("\n").filter((line) => line.includes(state)));
  const sandboxes = await readdir(join(state, "sandboxes")).catch(() => []);
  found.push(...sandboxes.filter((name) => name.startsWith("b-")).map((name) => `sandbox ${name}`));
  return found;
}
