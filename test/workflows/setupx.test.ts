import type { Client } from "@temporalio/client";
import test from "ava";
import { simulatedSweep } from "../../scripts/benchmark/simulated.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import { everyAction } from "./every-action.ts";
import { withSimulation } from "./harness.ts";

function sweep(client: Client, id: string): Promise<unknown> {
  return client.workflow.execute("sweep", {
    workflowId: id,
    taskQueue: GENERAL_QUEUE,
    args: [simulatedSweep(id, 1)],
  });
}

const ofTurn = (moved: readonly string[], turn: number) =>
  moved.filter((move) => move.startsWith(`${turn}.`)).map((move) => move.replace(/^[\d.]+ /, ""));

test.serial("each action makes the moves that it stands for, in their order", async (t) => {
  await withSimulation(everyAction({ cells: 1 }), async (client, seen) => {
    await sweep(client, "every-action");
    const turn = (number: number) => ofTurn(seen.moved, number);
    t.deepEqual(turn(0), ["push start"]);
    t.deepEqual(turn(2), ["main variables"]);
    t.deepEqual(turn(3), ["push try-3", "main good-values", "main good-1", "main good-2", "main works"]);
    t.deepEqual(turn(4), ["push try-4", "main bad-values", "main bad-1", "main bad-2", "pop try-4"]);
    t.deepEqual(turn(5).slice(-2), ["main fails", "pop try-5"]);
    t.deepEqual(turn(6).slice(0, 2), ["fork try-6-1", "fork try-6-2"]);
    const kept = turn(6).slice(turn(6).indexOf("push try-6"));
    t.deepEqual(kept, ["push try-6", "main other-values", "main other-1", "main other-2", "main works"]);
    t.true(turn(6).indexOf("drop try-6-2") < turn(6).indexOf("push try-6"));
    t.deepEqual(turn(7), []);
    t.deepEqual(turn(8), ["pop try-6"]);
    t.deepEqual(turn(9), ["pop start", "push start-9"], "the first frame is always there to go back to");
    t.deepEqual(turn(10), ["fork verify-10", "verify-10 look-10", "drop verify-10"]);
    t.like(seen.published[0]?.setup, { steps: 11, claim: true, cause: null });
  });
});

test.serial("a sandbox that is lost while several candidates run is replaced once", async (t) => {
  let lost = false;
  const simulation = everyAction({
    cells: 1,
    stepMs: 20,
    loses: (sandbox, step) => {
      const now = step === 6 && !sandbox.endsWith("/setup/1");
      lost ||= now;
      return now;
    },
  });
  await withSimulation(simulation, async (client, seen) => {
    await sweep(client, "lost-in-trial");
    t.true(lost);
    t.deepEqual(seen.rebuilt, ["task-0--setupx/1/setup/1"]);
    t.is(seen.published[0]?.losses.length, 1);
    t.like(seen.published[0]?.setup, { steps: 11, claim: true });
  });
});
