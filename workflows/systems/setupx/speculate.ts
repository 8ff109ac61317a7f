import { CancellationScope } from "@temporalio/workflow";
import type { Candidate, Move } from "../../moves.ts";
import type { SystemContext } from "../system.ts";
import type { Frames } from "./loop.ts";

/** Parts of a turn: each candidate on a fork has a hundred of its own, what happens to the main root comes after. */
const PARTS = 100;
const MAIN = 900;

/**
 * A speculative try (SetupX): checkpoint, trial, verification, and then it is kept or taken back whole. One candidate
 * runs in a frame of the main root; of several, each runs on a fork at the same time, and the first that works is run
 * again in a frame.
 */
export async function tryCandidates(
  context: SystemContext,
  turn: number,
  candidates: readonly Candidate[],
  frames: Frames,
): Promise<void> {
  const [only, ...others] = candidates;
  const chosen =
    only !== undefined && others.length === 0 ? only : await firstThatWorks(context, turn, candidates);
  if (chosen === null) return;
  const frame = `try-${turn}`;
  await context.act(turn, { kind: "push", frame }, MAIN);
  if (await works(context, turn, chosen, MAIN + 1)) frames.push(frame);
  else await context.act(turn, { kind: "pop", frame }, MAIN + PARTS - 1);
}

/** The first in time; the others are stopped where they are. */
async function firstThatWorks(
  context: SystemContext,
  turn: number,
  candidates: readonly Candidate[],
): Promise<Candidate | null> {
  const roots = candidates.map((_, index) => `try-${turn}-${index + 1}`);
  for (const [index, root] of roots.entries()) {
    await context.act(turn, { kind: "fork", root }, (index + 1) * PARTS);
  }
  const trials = new CancellationScope();
  const running = candidates.map((candidate, index) =>
    trials.run(() => works(context, turn, candidate, (index + 1) * PARTS + 1, roots[index])),
  );
  const winner = await firstTrue(running);
  trials.cancel();
  await Promise.allSettled(running);
  for (const [index, root] of roots.entries()) {
    await context.act(turn, { kind: "drop", root }, (index + 2) * PARTS - 1);
  }
  return winner === null ? null : (candidates[winner] ?? null);
}

/** The index of the first promise that gives true; null when all give false. What fails fails the whole. */
function firstTrue(promises: readonly Promise<boolean>[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    let open = promises.length;
    for (const [index, promise] of promises.entries()) {
      promise.then((result) => {
        if (result) resolve(index);
        else if (--open === 0) resolve(null);
      }, reject);
    }
  });
}

/** Runs the candidate; whether all of it succeeded, and what had failed before now works or fails further on. */
async function works(
  context: SystemContext,
  turn: number,
  { values, scripts, check }: Candidate,
  part: number,
  root?: string,
): Promise<boolean> {
  const at = root === undefined ? {} : { root };
  const moves: Move[] = [
    ...(values === null ? [] : [{ kind: "environment" as const, values, ...at }]),
    ...scripts.map((script) => ({ kind: "command" as const, script, seconds: null, ...at })),
  ];
  let next = part;
  for (const move of moves) {
    if ((await context.act(turn, move, next++)).exit !== 0) return false;
  }
  if (check === null) return true;
  const shown = await context.act(turn, { kind: "command", script: check, seconds: null, ...at }, next++);
  if (shown.exit === 0) return true;
  return (await context.decide(turn, next, "trial")).kind === "keep";
}
