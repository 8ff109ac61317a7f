import type { Action } from "../../moves.ts";
import { budgetUsed, type LoopOutcome, type SystemContext } from "../system.ts";
import { tryCandidates } from "./speculate.ts";
import { verifyOnFork } from "./verify.ts";

/** Snapshots that can be gone back to, oldest first. */
export type Frames = string[];

/**
 * SetupX: the main agent acts once a turn (run a command, set a variable, try what experience suggests, go back, let
 * the environment be verified, finish). The set-up ends when a verification passes or the agent finishes.
 */
export async function setupx(context: SystemContext): Promise<LoopOutcome> {
  const frames: Frames = [];
  await pushFrame(context, 0, frames, "start");
  for (let turn = 1; ; turn++) {
    const used = budgetUsed(context, turn - 1);
    const ended = used ?? (await oneTurn(context, turn, frames));
    if (ended === null) continue;
    // What was suggested last is judged as well.
    await context.decide(turn + 1, 0, "close");
    return ended;
  }
}

async function oneTurn(context: SystemContext, turn: number, frames: Frames): Promise<LoopOutcome | null> {
  context.onStep(turn);
  const action = await context.decide(turn);
  switch (action.kind) {
    case "command":
    case "environment":
      await context.act(turn, action);
      return null;
    case "try":
      await tryCandidates(context, turn, action.candidates, frames);
      return null;
    case "rollback":
      await rollBack(context, turn, action.frames, frames);
      return null;
    case "verify":
      return (await verifyOnFork(context, turn)) ? passed(turn) : null;
    case "nothing":
      return null;
    case "finish":
      return finished(turn, action);
    default:
      throw new Error(`${action.kind} is nothing that the main agent can choose`);
  }
}

/** Part numbers below this one are free for what a turn does between pushing and popping. */
const LAST_PART = 999;

async function pushFrame(context: SystemContext, turn: number, frames: Frames, name: string): Promise<void> {
  await context.act(turn, { kind: "push", frame: name }, LAST_PART - 1);
  frames.push(name);
}

/** Goes back `count` frames; the first one, before anything was done, stays there to go back to. */
async function rollBack(context: SystemContext, turn: number, count: number, frames: Frames): Promise<void> {
  const [frame, ...dropped] = frames.splice(Math.max(0, frames.length - count));
  if (frame === undefined) throw new Error(`${count} frames back: there are none`);
  await context.act(turn, { kind: "pop", frame }, LAST_PART - 2 - dropped.length);
  if (frames.length === 0) await pushFrame(context, turn, frames, `start-${turn}`);
}

function passed(turn: number): LoopOutcome {
  return { steps: turn, claim: true, cause: null, detail: "the verification passed" };
}

function finished(turn: number, action: Extract<Action, { kind: "finish" }>): LoopOutcome {
  return { steps: turn - 1, claim: action.claim, cause: action.cause ?? null, detail: action.message };
}
