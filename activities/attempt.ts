import { stat } from "node:fs/promises";
import { join } from "node:path";
import { activityInfo, cancellationSignal, heartbeat } from "@temporalio/activity";
import { type Cell, cellsOf } from "../benchmarks/cells.ts";
import { type LoadedSuite, loadSuite } from "../benchmarks/load.ts";
import type { Task } from "../benchmarks/schema.ts";
import type { ArmPlan, SweepPlan } from "../benchmarks/sweep-plan.ts";
import type { AttemptKey } from "../workflows/types.ts";
import type { Watch } from "./sandbox/run-command.ts";
import { readPlan } from "./store/sweep-folder.ts";

export interface OpenAttempt {
  plan: SweepPlan;
  suite: LoadedSuite;
  task: Task;
  arm: ArmPlan;
  /** Which repeat of its (task, arm) the cell is, from 1. */
  repeat: number;
}

interface OpenSweep {
  plan: SweepPlan;
  suite: LoadedSuite;
  cells: Map<string, Cell>;
}

/** A sweep's folder is read again only when its plan was written anew: a worker may outlive a sweep and its folder. */
const sweeps = new Map<string, { written: string; opening: Promise<OpenSweep> }>();

export async function openAttempt(key: AttemptKey): Promise<OpenAttempt> {
  const { plan, suite, cells } = await openSweep(key.folder);
  const cell = cells.get(key.cell);
  const task = suite.suite.tasks.find(({ id }) => id === cell?.task);
  if (cell === undefined || task === undefined) throw new Error(`${key.folder}: no cell ${key.cell}`);
  return { plan, suite, task, arm: cell.arm, repeat: cell.repeat };
}

export async function openSweep(folder: string): Promise<OpenSweep> {
  const { ino, mtimeNs } = await stat(join(folder, "sweep.json"), { bigint: true });
  const written = `${ino} ${mtimeNs}`;
  const known = sweeps.get(folder);
  if (known?.written === written) return known.opening;
  const opening = readSweep(folder);
  sweeps.set(folder, { written, opening });
  opening.catch(() => sweeps.delete(folder));
  return opening;
}

async function readSweep(folder: string): Promise<OpenSweep> {
  const plan = await readPlan(folder);
  const suite = await loadSuite(join(folder, "suite.json"));
  return { plan, suite, cells: new Map(cellsOf(plan).map((cell) => [cell.id, cell])) };
}

/** Ties a command's polling to the activity: heartbeats at each poll, and an end when the activity is cancelled. */
export function beating(): Watch {
  return { beat: () => heartbeat(), signal: cancellationSignal() };
}

/** Heartbeats while work goes on that has no polls of its own (fetching, unpacking). */
export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const interval = (activityInfo().heartbeatTimeoutMs ?? 15_000) / 3;
  const timer = setInterval(() => heartbeat(), interval);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
