import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { runningSweeps } from "../../activities/reaper/ask.ts";
import { reapOrphans } from "../../activities/reaper/reap.ts";
import type { SandboxDriver } from "../../activities/sandbox/driver.ts";
import { readRecords } from "../../activities/store/sweep-folder.ts";
import { cellsOf } from "../../benchmarks/cells.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { compareArms } from "../../results/compare.ts";
import { renderComparison } from "../../results/compare-table.ts";
import { oneLine } from "../../results/format.ts";
import type { RunRecord } from "../../results/record.ts";
import { compareWithRecorded, renderRecordedComparison } from "../../results/recorded.ts";
import { renderTable } from "../../results/table.ts";
import { writeResults } from "../../results/write-results.ts";
import type { CommonOptions } from "../cli/options.ts";
import type { ProgressWriter } from "../cli/progress.ts";
import { textOptions } from "../cli/text-options.ts";
import { isStackKept, keepStack, stopStack, whileKept } from "../stack/stack.ts";
import type { TemporalService } from "../stack/temporal.ts";
import { answered, INTERRUPTED } from "./client.ts";
import { followSweep } from "./follow.ts";
import { keyVariables } from "./models.ts";

const ONE_SIGNAL_MS = 1_000;
const UNGRADED_SHOWN = 5;

export interface Attended {
  client: Client;
  service: TemporalService;
  /** Whether the sweep was started by this call; else it ran already. */
  started: boolean;
  plan: SweepPlan;
  folder: string;
  driver: SandboxDriver;
  options: CommonOptions;
  writer: ProgressWriter;
}

/**
 * Keeps the stack alive and shows progress until the sweep ends, then prints its table. Ctrl-C stops cleanly: the
 * sweep is paused where it is and the line that resumes it is printed.
 * @returns the exit code: 0 all cells graded, 1 some not (or interrupted)
 */
export async function attend(attended: Attended): Promise<number> {
  const { client, service, started, plan, folder, options, writer } = attended;
  const interrupt = new AbortController();
  const release = onInterrupt(plan.sweep, () => interrupt.abort());
  const ended = new AbortController();
  const tending = AbortSignal.any([interrupt.signal, ended.signal]);
  const keys = keyVariables(plan.settings.endpoints);
  const stack = { ...options, keys, tell: writer.tell };
  const keeping = keepStack(stack, service, tending);
  try {
    const following = followSweep({
      client,
      id: plan.sweep,
      folder,
      show: writer.show,
      tell: writer.tell,
      signal: interrupt.signal,
      fromStart: started,
    });
    await Promise.race([following, keeping.then(() => following)]);
  } catch (error) {
    throw new Error(`${(error as Error).message}; go on with: pnpm bench resume ${plan.sweep}`, {
      cause: error,
    });
  } finally {
    ended.abort();
  }
  await keeping;
  writer.end();
  if (interrupt.signal.aborted) return interrupted(attended);
  release();
  await leave(attended, stack);
  return printResults(plan, folder, options.json);
}

/** The first signal calls `stop`; a later one, for who does not want to wait for that, ends the process at once. */
function onInterrupt(sweep: string, stop: () => void): () => void {
  let first: number | null = null;
  const handle = () => {
    if (first === null) {
      first = Date.now();
      return stop();
    }
    // A terminal and a package manager that passes signals on may both send the first one.
    if (Date.now() - first < ONE_SIGNAL_MS) return;
    process.stderr.write(`stopped at once; go on with: pnpm bench resume ${sweep}\n`);
    process.exit(1);
  };
  process.on("SIGINT", handle).on("SIGTERM", handle);
  return () => void process.off("SIGINT", handle).off("SIGTERM", handle);
}

async function interrupted({ client, plan, options, writer }: Attended): Promise<number> {
  await client.workflow.getHandle(plan.sweep).signal("pause", INTERRUPTED);
  const others = (await runningSweeps(client)).filter((id) => id !== plan.sweep);
  if (others.length === 0 && !(await isStackKept(options.state))) await stopStack(options.state);
  writer.tell(`sweep ${plan.sweep} is paused; go on with: pnpm bench resume ${plan.sweep}`);
  return 1;
}

/** Removes what the sweep left, and the embedded stack as well when nothing needs it any more and nobody keeps it. */
async function leave(
  { client, service, driver, options }: Attended,
  stack: Parameters<typeof whileKept>[0],
): Promise<void> {
  const others = await whileKept(stack, service, async () => {
    await answered(() => reapOrphans(client, service.server, driver));
    return answered(() => runningSweeps(client));
  });
  if (others.length > 0 || (await isStackKept(options.state))) return;
  await client.connection.close();
  await stopStack(options.state);
}

/** Writes the sweep's result files anew and prints the table (or the summary as JSON). */
export async function printResults(plan: SweepPlan, folder: string, json: boolean): Promise<number> {
  const records = await readRecords(folder, plan);
  const summary = await writeResults(folder, { sweep: plan.sweep, suite: plan.lock.suite, records });
  if (json) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  else {
    const text = textOptions();
    const table = renderTable(summary.groups, text);
    process.stdout.write(`\n${summary.groups.length === 0 ? "No cell has ended yet." : table}\n`);
    const naive = records.filter((record) => record.system === "naive");
    const { suite } = await loadSuite(join(folder, "suite.json"));
    if (naive.length > 0 && suite.tasks.some((task) => task.naive !== null)) {
      const comparison = compareWithRecorded(naive, suite.tasks);
      process.stdout.write(
        `\nnaive, against the suite's record: ${renderRecordedComparison(comparison, text)}\n`,
      );
    }
    for (const pair of plan.settings.compare) {
      const [a, b] = pair.map((arm) => ({ label: arm, records: records.filter((one) => one.arm === arm) }));
      if (a && b) process.stdout.write(`\n${renderComparison(compareArms(a, b), text)}\n`);
    }
    process.stdout.write(`\n${ungradedText(plan, records)}Results: ${folder}\n`);
  }
  const graded = records.filter((record) => record.validity === "valid").length;
  return graded === cellsOf(plan).length ? 0 : 1;
}

/** The first cells that could not be graded, each with its cause and how to see more of it. */
function ungradedText(plan: SweepPlan, records: readonly RunRecord[]): string {
  const ungraded = records.filter((record) => record.validity !== "valid");
  const lines = ungraded
    .slice(0, UNGRADED_SHOWN)
    .map(({ cell, cause, detail }) => oneLine(`  ${cell}: ${cause}${detail === null ? "" : `, ${detail}`}`));
  const [first] = ungraded;
  if (first === undefined) return "";
  const more = `more of it: pnpm bench inspect ${plan.sweep}/${first.cell}`;
  return `Not graded (${ungraded.length}), ${more}\n${lines.join("\n")}\n\n`;
}
