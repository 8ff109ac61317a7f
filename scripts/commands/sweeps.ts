import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { isUnreachable, workflowState } from "../../activities/reaper/ask.ts";
import { reapOrphans } from "../../activities/reaper/reap.ts";
import { readRecords } from "../../activities/store/sweep-folder.ts";
import { cellsOf } from "../../benchmarks/cells.ts";
import { SWEEP_ID } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { makeDeps } from "../../workers/deps.ts";
import { temporalConnectionOptions } from "../../workers/temporal-connection.ts";
import type { CommonOptions } from "../cli/options.ts";
import { progressWriter } from "../cli/progress.ts";
import { printRows } from "../cli/rows.ts";
import { checkReady } from "../stack/ready.ts";
import { whileKept } from "../stack/stack.ts";
import { temporalStatus } from "../stack/temporal.ts";
import { attend, printResults } from "../sweep/attend.ts";
import { answered, connect, progressOf, startSweep } from "../sweep/client.ts";
import { existingPlan, sweepFolder } from "../sweep/folder.ts";
import { followSweep } from "../sweep/follow.ts";
import { keyVariables } from "../sweep/models.ts";
import { openSweepByName, planByName } from "../sweep/open.ts";
import { withBase } from "../sweep/prepare.ts";
import { ensureReaper } from "../sweep/reaper.ts";

const ASK_MS = 3_000;

/** Attaches to a live sweep, or starts its workflow again, which runs only the cells that are not finished. */
export async function resumeSweep(options: CommonOptions, id: string): Promise<number> {
  const { plan: asked } = await planByName(options, id);
  await checkReady(options.state, options.address, asked.lock.driver === "local");
  const { client, service, plan: stored, folder } = await openSweepByName(options, id, "any");
  const writer = progressWriter(process.stderr);
  const plan = await withBase(stored, folder, options.state, writer.tell);
  const deps = makeDeps(options.state, service);
  const driver = deps.driver(plan);
  const stack = { ...options, keys: keyVariables(plan.settings.endpoints), tell: writer.tell };
  const started = await whileKept(stack, service, async () => {
    await answered(() => reapOrphans(client, service.server, driver));
    await answered(() => ensureReaper(client, plan, deps.host));
    const isNew = await answered(() => startSweep(client, folder, plan));
    await answered(() => client.workflow.getHandle(id).signal("unpause"));
    return isNew;
  });
  writer.tell(`sweep ${id} goes on, results in ${folder}`);
  return attend({ client, service, started, plan, folder, driver, options, writer });
}

export async function watchSweep(options: CommonOptions, id: string): Promise<number> {
  const { client, plan, folder } = await openSweepByName(options, id, "any");
  const writer = progressWriter(process.stderr);
  if ((await workflowState(client, id)) === "running") {
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    const { show, tell } = writer;
    await followSweep({ client, id, folder, show, tell, signal: stop.signal, fromStart: false });
    if (stop.signal.aborted) return 0;
  }
  return printResults(plan, folder, options.json);
}

export async function reportSweep(options: CommonOptions, id: string): Promise<number> {
  const { plan, folder } = await planByName(options, id);
  return printResults(plan, folder, options.json);
}

/** Reads the folders, and asks the server if one runs; starts nothing. */
export async function statusOf(options: CommonOptions, id: string | undefined): Promise<number> {
  const ids = id === undefined ? await sweepIds(options) : [(await planByName(options, id)).plan.sweep];
  const client = await clientIfRunning(options);
  const rows = [];
  for (const sweep of ids) {
    const row = await rowOf(options, client, sweep).catch(id === undefined ? told : thrown);
    if (row !== null) rows.push(row);
  }
  if (rows.length === 0 && !options.json) process.stderr.write(`no sweeps in ${options.state}\n`);
  else printRows(rows, options.json);
  return 0;
}

async function rowOf(options: CommonOptions, client: Client | null, sweep: string) {
  const folder = sweepFolder(options, sweep);
  const plan = await existingPlan(folder);
  if (plan === null) return null;
  const records = await readRecords(folder, plan);
  const state = client === null ? null : await liveState(client, sweep);
  const cells = cellsOf(plan).length;
  const graded = records.filter((record) => record.validity === "valid").length;
  return {
    sweep,
    state: state ?? (graded === cells ? "complete" : "incomplete"),
    suite: plan.lock.suite,
    systems: plan.lock.arms.map((arm) => arm.id).join(","),
    cells,
    graded,
    ungraded: records.length - graded,
    created: plan.created_at,
  };
}

/** Null when the sweep does not run. One whose worker can't be asked counts as running. */
async function liveState(client: Client, sweep: string): Promise<"running" | "paused" | null> {
  if ((await workflowState(client, sweep)) !== "running") return null;
  try {
    const { paused } = await client.withDeadline(Date.now() + ASK_MS, () => progressOf(client, sweep));
    return paused === null ? "running" : "paused";
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    return "running";
  }
}

/** A damaged sweep is no reason to show no other. */
function told(error: unknown): null {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  return null;
}

function thrown(error: unknown): never {
  throw error;
}

async function sweepIds({ state }: CommonOptions): Promise<string[]> {
  const names = await readdir(join(state, "sweeps")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  return names.filter((name) => SWEEP_ID.test(name)).sort();
}

async function clientIfRunning(options: CommonOptions) {
  const address = options.address ?? (await temporalStatus(options.state))?.address;
  if (address === undefined) return null;
  return connect({ connection: temporalConnectionOptions(address), namespace: options.namespace });
}
