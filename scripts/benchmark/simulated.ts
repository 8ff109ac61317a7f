import { ApplicationFailure } from "@temporalio/common";
import { CAUSES, type Cause } from "../../results/causes.ts";
import type { GeneralActivities, HostActivities } from "../../workflows/activities.ts";
import type { Action, Move } from "../../workflows/moves.ts";
import type { SweepInput } from "../../workflows/sweep.ts";
import type { AttemptFacts, CellRef, RunOutcome, SandboxKey } from "../../workflows/types.ts";

export interface Simulation {
  cells: number;
  steps: number;
  /** The system of the cells, else nop, and its decisions, else `steps` commands. */
  system?: string;
  decides?: (step: number, part: number, about: string) => Action;
  /** Exit code of a command or of variables, by the digest of their text; else 0. */
  exits?: (digest: string) => number;
  /** The cause that the n-th attempt of a cell's sandbox creation fails with, or null. */
  failWith?: (cell: string, attempt: number) => Cause | null;
  /** Milliseconds that a step takes. */
  stepMs?: number;
  /** Whether this sandbox is lost in this step (0: in the tests). */
  loses?: (sandbox: string, step: number) => boolean;
  /** Whether this sandbox can't be removed. */
  keeps?: (sandbox: string) => boolean;
}

export interface Seen {
  published: AttemptFacts[];
  opened: string[];
  closed: string[];
  rebuilt: string[];
  /** Schedules whose reaper came round. */
  reaped: string[];
  /** Moves as `STEP.PART KIND WHAT`, in the order in which they ended. */
  moved: string[];
  /** Numbers of the steps decided, in order. */
  decided: number[];
  /** The most cells that were at work at the same time. */
  peak: number;
}

/**
 * Activities that touch nothing, for tests of the workflows alone: what they do is judged by the calls they make.
 */
export function simulatedActivities(simulation: Simulation): {
  activities: GeneralActivities & HostActivities;
  seen: Seen;
} {
  const seen: Seen = {
    published: [],
    opened: [],
    closed: [],
    rebuilt: [],
    reaped: [],
    moved: [],
    decided: [],
    peak: 0,
  };
  const working = new Set<string>();
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const lose = (sandbox: string, step: number) => {
    if (simulation.loses?.(sandbox, step)) throw simulatedFailure("sandbox_lost");
  };
  const close = (sandbox: string) => {
    if (simulation.keeps?.(sandbox)) throw simulatedFailure("harness_fault");
    seen.closed.push(sandbox);
  };
  const activities: GeneralActivities & HostActivities = {
    claimHost: async () => ({ host: "simulated" }),
    async nextCells({ from, limit }) {
      const end = Math.min(from + limit, simulation.cells);
      const cells: CellRef[] = [];
      for (let index = from; index < end; index++) cells.push(cellRef(index, simulation.system ?? "nop"));
      return { cells, next: end < simulation.cells ? end : null, total: simulation.cells, settled: 0 };
    },
    writeResults: async () => undefined,
    async publishRecord(facts) {
      seen.published.push(facts);
      working.delete(facts.cell);
      const cause = facts.failure?.cause ?? null;
      const valid = cause === null || CAUSES[cause].graded;
      const outcome: RunOutcome = {
        cell: facts.cell,
        attempt: facts.attempt,
        validity: valid ? "valid" : "infrastructure",
        cause,
        ebsr: facts.tests !== null,
      };
      return outcome;
    },
    async openSandbox(key) {
      const { cell, attempt } = key;
      working.add(cell);
      seen.peak = Math.max(seen.peak, working.size);
      const cause = simulation.failWith?.(cell, attempt) ?? null;
      if (cause !== null) throw simulatedFailure(cause);
      const id = sandboxName(key);
      seen.opened.push(id);
      return {
        sandbox: { driver: "local", id, host: "simulated" },
        snapshots: "layers",
        source: { digest: "s".repeat(64), revision: null, bytes: 1, notes: [] },
      };
    },
    closeSandbox: async ({ sandbox }) => close(sandbox.id),
    discardSandbox: async (key) => close(sandboxName(key)),
    async rebuildSandbox({ sandbox }) {
      seen.rebuilt.push(sandbox.id);
    },
    async reapSandboxes({ schedule }) {
      seen.reaped.push(schedule);
      return { destroyed: 0, left: 0, over: false };
    },
    refuseCell: async () => null,
    async decide({ step, part, about }) {
      seen.decided.push(step);
      if (simulation.decides) return simulation.decides(step, part, about);
      return step > simulation.steps
        ? { kind: "finish", claim: true, message: "done" }
        : { kind: "command", script: "c".repeat(64), seconds: null };
    },
    async act({ sandbox, step, part, move }) {
      if (simulation.stepMs) await sleep(simulation.stepMs);
      lose(sandbox.id, step);
      seen.moved.push(`${step}.${part} ${nameOf(move)}`);
      const digest = move.kind === "command" ? move.script : move.kind === "environment" ? move.values : "";
      return { exit: simulation.exits?.(digest) ?? 0, end: "exited", seconds: 0.01 };
    },
    freezeArtifact: async () => ({ digest: "a".repeat(64), commands: simulation.steps }),
    replayArtifact: async () => ({ exit: 0, seconds: 1, detail: null }),
    collectTests: async () => ({ ok: true, count: 3, errors: 0, report: "r".repeat(64), detail: null }),
    async runTests({ sandbox }) {
      lose(sandbox.id, 0);
      const outcomes = { passed: 3, failed: 0, skipped: 0, errors: 0, flaky: 0, seconds: 1 };
      return { ...outcomes, gold: null, report: "t".repeat(64), detail: null };
    },
    checkStatically: async () => ({ missing_imports: 0, pip_check: true, detail: null }),
  };
  return { activities, seen };
}

function nameOf(move: Move): string {
  if (move.kind === "push" || move.kind === "pop") return `${move.kind} ${move.frame}`;
  if (move.kind === "fork" || move.kind === "drop") return `${move.kind} ${move.root}`;
  const what = move.kind === "command" ? move.script : move.values;
  return `${move.root ?? "main"} ${what}`;
}

function simulatedFailure(type: Cause): ApplicationFailure {
  return ApplicationFailure.create({ type, message: "simulated", nonRetryable: true });
}

function sandboxName({ cell, attempt, purpose, generation }: SandboxKey): string {
  return `${cell}/${attempt}/${purpose}${generation > 0 ? `/${generation}` : ""}`;
}

/** Never reached by what is simulated. */
export const AMPLE = {
  wall: 9e3,
  working: 9e3,
  steps: 1e6,
  command: 60,
  replay: 60,
  collect: 60,
  tests: 60,
  test: 60,
};

export function simulatedSweep(sweep: string, parallel: number): SweepInput {
  return { folder: "/nowhere", sweep, suite: "simulated", budget: AMPLE, parallel };
}

function cellRef(index: number, system: string): CellRef {
  return {
    cell: `task-${index}--${system}`,
    task: `task-${index}`,
    language: "python",
    tier: null,
    arm: { id: system, system, model: null, options: {} },
    attemptsBefore: 0,
  };
}
