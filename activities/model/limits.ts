import type { SpendingLimit } from "../../benchmarks/model-plan.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import type { AttemptKey } from "../../workflows/types.ts";
import { CausedError } from "../errors.ts";
import { type Spent, spentByRun, spentSoFar } from "./ledger.ts";

/** `<cell>/<attempt>`, under which the ledger keeps what an attempt spends. */
export function runName({ cell, attempt }: Pick<AttemptKey, "cell" | "attempt">): string {
  return `${cell}/${attempt}`;
}

/**
 * Called before each call, so that no limit is passed by more than the calls that are under way. Throws `agent_budget`
 * when the attempt has used its own limit up, `quota_exhausted` (the sweep pauses) when the sweep has.
 */
export async function refuseOverLimit(key: AttemptKey, { lock, settings }: SweepPlan): Promise<void> {
  const own = { usd: lock.budget.usd, tokens: lock.budget.tokens };
  if (isUnlimited(own) && isUnlimited(settings.spending)) return;
  const spent = await spentSoFar(key.folder, runName(key));
  const usedUp = overLimit(spent.run, own);
  if (usedUp !== null) throw new CausedError("agent_budget", `${usedUp} used by the run's calls`);
  const paid = overLimit(spent.sweep, settings.spending);
  if (paid !== null) throw new CausedError("quota_exhausted", `${paid} used by the sweep's calls`);
}

/**
 * Why the sweep can't pay for one more cell, or null. Each running cell, and the new one, is taken to need what its own
 * limit allows, or without such a limit what ended runs took on average.
 */
export async function refusalOfCell(
  folder: string,
  { lock, settings }: SweepPlan,
  running: readonly string[],
): Promise<string | null> {
  const limit = settings.spending;
  if (isUnlimited(limit)) return null;
  const runs = await spentByRun(folder);
  const { sweep } = await spentSoFar(folder);
  for (const kind of ["usd", "tokens"] as const) {
    const most = limit[kind];
    if (most === null) continue;
    const ended = [...runs].filter(([run]) => !running.includes(cellOf(run)));
    const each = lock.budget[kind] ?? meanOf(ended.map(([, spent]) => spent[kind]));
    const promised = running.reduce((sum, cell) => sum + Math.max(0, each - spentOn(runs, cell, kind)), 0);
    if (sweep[kind] + promised + each <= most && sweep[kind] < most) continue;
    const now = `${show(sweep[kind], kind)} of ${show(most, kind)} used`;
    return `the sweep can't pay for another cell: ${now}, one takes up to ${show(each, kind)}; raise --sweep-${kind} to go on`;
  }
  return null;
}

/** Of the cell's latest attempt, which is the one that runs. */
function spentOn(runs: ReadonlyMap<string, Spent>, cell: string, kind: keyof Spent): number {
  return [...runs].filter(([run]) => cellOf(run) === cell).at(-1)?.[1][kind] ?? 0;
}

function cellOf(run: string): string {
  return run.slice(0, run.lastIndexOf("/"));
}

function overLimit(spent: Spent, limit: SpendingLimit): string | null {
  for (const kind of ["usd", "tokens"] as const) {
    const most = limit[kind];
    if (most !== null && spent[kind] >= most) return `${show(spent[kind], kind)} of ${show(most, kind)}`;
  }
  return null;
}

function isUnlimited({ usd, tokens }: SpendingLimit): boolean {
  return usd === null && tokens === null;
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function show(value: number, kind: keyof Spent): string {
  return kind === "usd" ? `$${value.toFixed(4)}` : `${Math.round(value)} tokens`;
}
