import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  setHandler,
  startChild,
  workflowInfo,
} from "@temporalio/workflow";
import type { GeneralActivities } from "./activities.ts";
import { breakerReason, type Streak, streakAfter } from "./breaker.ts";
import { general } from "./policies.ts";
import { run } from "./run.ts";
import { runAttributes } from "./search-attributes.ts";
import type { Budget, CellRef, RunOutcome } from "./types.ts";

export interface SweepInput {
  folder: string;
  sweep: string;
  suite: string;
  budget: Budget;
  parallel: number;
  /** Whether any arm has a model, whose calls may be limited. */
  models?: boolean;
  /** Set when the sweep continues as new. */
  carried?: Carried;
}

interface Carried {
  next: number;
  settled: number;
  done: number;
  ungraded: number;
  causes: Record<string, number>;
  streak: Streak;
  paused: string | null;
  startedAt: number;
  /** The cells that ended last, in that order: who looks from time to time misses none, however short it was. */
  recent: string[];
}

export interface Progress extends Omit<Carried, "next" | "streak"> {
  total: number | null;
  parallel: number;
  running: string[];
}

const progressQuery = defineQuery<Progress>("progress");
const pauseSignal = defineSignal<[string]>("pause");
const unpauseSignal = defineSignal("unpause");
const parallelUpdate = defineUpdate<number, [number]>("parallel");

/** Small, so that a history that is to be continued as new does not grow by many more runs first. */
const PAGE = 20;
/** More than end between two looks; so few that they travel with every look and every continuation. */
const RECENT = 200;
const anywhere = proxyActivities<GeneralActivities>(general);

/** Starts a run per open cell, `parallel` at a time, and continues as new (children drained first) when history grows. */
export async function sweep(input: SweepInput): Promise<Progress> {
  const state: Carried = input.carried ?? {
    next: 0,
    settled: 0,
    done: 0,
    ungraded: 0,
    causes: {},
    streak: { cause: null, length: 0 },
    paused: null,
    startedAt: Date.now(),
    recent: [],
  };
  let parallel = input.parallel;
  let total: number | null = null;
  const running = new Set<string>();
  /** Those of them whose calls cost. */
  const paying = new Set<string>();
  const progress = (): Progress => {
    const { next: _, streak: __, ...shown } = state;
    return { ...shown, total, parallel, running: [...running] };
  };
  setHandler(progressQuery, progress);
  setHandler(pauseSignal, (reason) => {
    state.paused = reason;
  });
  setHandler(unpauseSignal, () => {
    state.paused = null;
    state.streak = { cause: null, length: 0 };
  });
  setHandler(
    parallelUpdate,
    (value) => {
      parallel = value;
      return parallel;
    },
    {
      validator(value) {
        if (!Number.isInteger(value) || value < 1 || value > 500) {
          throw new Error("parallel must be a whole number from 1 to 500");
        }
      },
    },
  );

  const runCell = async (cell: CellRef): Promise<void> => {
    running.add(cell.cell);
    if (cell.arm.model !== null) paying.add(cell.cell);
    try {
      settle(state, await (await startRun(input, cell)).result());
    } catch (error) {
      if (isCancellation(error)) return;
      settle(state, {
        cell: cell.cell,
        attempt: 0,
        validity: "infrastructure",
        cause: "harness_fault",
        ebsr: false,
      });
    } finally {
      running.delete(cell.cell);
      paying.delete(cell.cell);
    }
  };

  const room = () => condition(() => state.paused === null && running.size < parallel);

  /** What running cells do not use up may pay for this one; when none runs, only people can raise the limit. */
  const waitUntilPayable = async (cell: CellRef): Promise<void> => {
    while (input.models && cell.arm.model !== null) {
      const refusal = await anywhere.refuseCell({ folder: input.folder, running: [...paying] });
      if (refusal === null) return;
      const { done } = state;
      if (paying.size > 0) await condition(() => state.done > done);
      else state.paused = refusal;
      await room();
    }
  };

  const runAll = async (): Promise<"done" | "continue"> => {
    for (let exhausted = false; ; ) {
      if (exhausted) return "done";
      if (workflowInfo().continueAsNewSuggested) return "continue";
      const page = await anywhere.nextCells({ folder: input.folder, from: state.next, limit: PAGE });
      total = page.total;
      state.settled += page.settled;
      for (const cell of page.cells) {
        await room();
        await waitUntilPayable(cell);
        // Every way that it can end is handled inside.
        void runCell(cell);
      }
      exhausted = page.next === null;
      state.next = page.next ?? page.total;
    }
  };

  try {
    const end = await runAll();
    await condition(() => running.size === 0);
    if (end === "continue") {
      await condition(allHandlersFinished);
      return await continueAsNew<typeof sweep>({ ...input, parallel, carried: state });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      await condition(() => running.size === 0);
      await anywhere.writeResults({ folder: input.folder });
    });
    throw error;
  }
  await anywhere.writeResults({ folder: input.folder });
  await condition(allHandlersFinished);
  return progress();
}

function startRun(input: SweepInput, cell: CellRef) {
  return startChild(run, {
    workflowId: `${input.sweep}/${cell.cell}`,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    typedSearchAttributes: runAttributes(input.sweep, input.suite, cell),
    args: [
      {
        folder: input.folder,
        sweep: input.sweep,
        cell: cell.cell,
        task: cell.task,
        language: cell.language,
        arm: cell.arm,
        budget: input.budget,
        attemptsBefore: cell.attemptsBefore,
      },
    ],
  });
}

function settle(state: Carried, outcome: RunOutcome): void {
  state.done += 1;
  state.recent = [...state.recent, outcome.cell].slice(-RECENT);
  if (outcome.validity !== "valid") state.ungraded += 1;
  if (outcome.cause !== null) state.causes[outcome.cause] = (state.causes[outcome.cause] ?? 0) + 1;
  state.streak = streakAfter(state.streak, outcome);
  state.paused ??= breakerReason(state.streak, outcome);
}
