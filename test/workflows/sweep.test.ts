import type { Client } from "@temporalio/client";
import test from "ava";
import { simulatedSweep } from "../../scripts/benchmark/simulated.ts";
import { ensureReaper } from "../../scripts/sweep/reaper.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import type { Progress } from "../../workflows/sweep.ts";
import { withSimulation } from "./harness.ts";

function start(client: Client, id: string, parallel = 4) {
  return client.workflow.start("sweep", {
    workflowId: id,
    taskQueue: GENERAL_QUEUE,
    args: [simulatedSweep(id, parallel)],
  });
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

test.serial("a sweep runs every cell once, no more at a time than it may", async (t) => {
  await withSimulation({ cells: 30, steps: 2, stepMs: 20 }, async (client, seen) => {
    const handle = await start(client, "sweep-all", 3);
    const progress: Progress = await handle.result();
    t.is(progress.done, 30);
    t.is(progress.ungraded, 0);
    t.is(new Set(seen.published.map((facts) => facts.cell)).size, 30);
    t.is(seen.published.length, 30);
    t.true(seen.peak <= 3);
    t.deepEqual(seen.closed.toSorted(), seen.opened.toSorted());
  });
});

test.serial(
  "an infrastructure failure is retried as a new attempt and each attempt leaves a record",
  async (t) => {
    const failWith = (cell: string, attempt: number) =>
      cell === "task-1--nop" && attempt < 3 ? ("sandbox_lost" as const) : null;
    await withSimulation({ cells: 2, steps: 1, failWith }, async (client, seen) => {
      const progress: Progress = await (await start(client, "sweep-retry")).result();
      t.is(progress.ungraded, 0);
      const attempts = seen.published.filter((facts) => facts.cell === "task-1--nop");
      t.deepEqual(
        attempts.map((facts) => [facts.attempt, facts.failure?.cause ?? null]),
        [
          [1, "sandbox_lost"],
          [2, "sandbox_lost"],
          [3, null],
        ],
      );
      // What a failed opening left is destroyed too, although its reference never arrived.
      t.deepEqual(
        seen.closed.filter((id) => !seen.opened.includes(id)),
        ["task-1--nop/1/setup", "task-1--nop/2/setup"],
      );
    });
  },
);

test.serial(
  "a run goes on in a new sandbox when the one it works in is lost, without deciding again",
  async (t) => {
    const loses = (sandbox: string, step: number) =>
      (sandbox === "task-0--nop/1/setup" && step === 3) || (sandbox === "task-0--nop/1/replay" && step === 0);
    await withSimulation({ cells: 1, steps: 5, loses }, async (client, seen) => {
      await (await start(client, "sweep-lost")).result();
      const [facts] = seen.published;
      t.is(seen.published.length, 1);
      t.like(facts, { attempt: 1, failure: null, setup: { steps: 5 }, tests: { passed: 3 } });
      t.deepEqual(
        facts?.losses.map(({ purpose, cause }) => [purpose, cause]),
        [
          ["setup", "sandbox_lost"],
          ["replay", "sandbox_lost"],
        ],
      );
      t.deepEqual(seen.decided, [1, 2, 3, 4, 5, 6]);
      t.deepEqual(seen.rebuilt, ["task-0--nop/1/setup/1"]);
      t.deepEqual(seen.closed.toSorted(), seen.opened.toSorted());
    });
  },
);

test.serial("an attempt whose sandboxes keep getting lost ends, and all of them are closed", async (t) => {
  const loses = (sandbox: string, step: number) => sandbox.startsWith("task-0--nop/1/") && step === 2;
  await withSimulation({ cells: 1, steps: 2, loses }, async (client, seen) => {
    await (await start(client, "sweep-losing")).result();
    t.deepEqual(
      seen.published.map(({ attempt, losses, failure }) => [attempt, losses.length, failure?.cause ?? null]),
      [
        [1, 3, "sandbox_lost"],
        [2, 0, null],
      ],
    );
    t.deepEqual(seen.closed.toSorted(), seen.opened.toSorted());
  });
});

test.serial("a sandbox that can't be removed takes nothing from its run's result, and is told", async (t) => {
  await withSimulation({ cells: 1, steps: 1, keeps: () => true }, async (client, seen) => {
    const progress: Progress = await (await start(client, "sweep-kept")).result();
    t.is(progress.ungraded, 0);
    t.is(seen.published.length, 1);
    const [facts] = seen.published;
    t.is(facts?.failure, null);
    t.is(facts?.artifact?.commands, 1);
    t.is(facts?.tests?.passed, 3);
    t.deepEqual(facts?.left, [`${seen.opened[0]}: simulated`, `${seen.opened[1]}: simulated`]);
  });
});

test.serial("what a failed opening left and could not be removed does not hide why it failed", async (t) => {
  const simulation = { cells: 1, steps: 1, failWith: () => "source_vanished" as const, keeps: () => true };
  await withSimulation(simulation, async (client, seen) => {
    const progress: Progress = await (await start(client, "sweep-kept-unopened")).result();
    t.deepEqual(progress.causes, { source_vanished: 1 });
    t.is(seen.published.length, 1);
    t.deepEqual(seen.published[0]?.left, ["setup sandbox: simulated"]);
  });
});

test.serial("a source that is gone is not tried again, and the sweep goes on", async (t) => {
  const failWith = (cell: string) => (cell === "task-0--nop" ? ("source_vanished" as const) : null);
  await withSimulation({ cells: 3, steps: 1, failWith }, async (client, seen) => {
    const progress: Progress = await (await start(client, "sweep-vanished")).result();
    t.is(progress.done, 3);
    t.is(progress.ungraded, 1);
    t.deepEqual(progress.causes, { source_vanished: 1 });
    t.is(seen.published.length, 3);
  });
});

test.serial("the breaker pauses a sweep whose runs keep failing alike, and unpausing goes on", async (t) => {
  let broken = true;
  const failWith = () => (broken ? ("source_mismatch" as const) : null);
  await withSimulation({ cells: 12, steps: 1, failWith }, async (client, seen) => {
    const handle = await start(client, "sweep-breaker", 1);
    await until(async () => (await handle.query<Progress>("progress")).paused !== null);
    t.regex((await handle.query<Progress>("progress")).paused ?? "", /5 runs in a row .* source_mismatch/);
    t.is(seen.published.length, 5);
    broken = false;
    await handle.signal("unpause");
    const progress: Progress = await handle.result();
    t.is(progress.done, 12);
    t.is(progress.ungraded, 5);
  });
});

test.serial("a quota failure pauses the sweep at once", async (t) => {
  const failWith = (cell: string) => (cell === "task-1--nop" ? ("quota_exhausted" as const) : null);
  await withSimulation({ cells: 6, steps: 1, failWith }, async (client, seen) => {
    const handle = await start(client, "sweep-quota", 1);
    await until(async () => (await handle.query<Progress>("progress")).paused !== null);
    t.is(seen.published.length, 2);
    await handle.signal("unpause");
    t.is(((await handle.result()) as Progress).done, 6);
  });
});

test.serial("parallelism changes while the sweep runs, and nonsense is refused", async (t) => {
  await withSimulation({ cells: 20, steps: 3, stepMs: 50 }, async (client, seen) => {
    const handle = await start(client, "sweep-parallel", 1);
    await until(() => seen.published.length >= 1);
    t.is(seen.peak, 1);
    t.is(await handle.executeUpdate("parallel", { args: [6] }), 6);
    await t.throwsAsync(handle.executeUpdate("parallel", { args: [0] }));
    await handle.result();
    t.true(seen.peak > 1 && seen.peak <= 6);
  });
});

test.serial("cancelling a sweep closes every sandbox that was opened", async (t) => {
  await withSimulation({ cells: 20, steps: 50, stepMs: 50 }, async (client, seen) => {
    const handle = await start(client, "sweep-cancel", 4);
    await until(() => seen.opened.length >= 4);
    await handle.cancel();
    await t.throwsAsync(handle.result());
    t.deepEqual(seen.closed.toSorted(), seen.opened.toSorted());
  });
});

test.serial("a reaper comes round for each holder of sandboxes, however often it is asked for", async (t) => {
  await withSimulation({ cells: 1, steps: 1 }, async (client, seen) => {
    const pods = { template: {}, user_namespaces: "auto" as const, headroom: 2.5 };
    const cluster = {
      kubeconfig: null,
      context: null,
      namespace: null,
      capacity_seconds: 60,
      warm_pods: 0,
      unreachable: [],
    };
    const settings = { engine: null, cluster: null, base_location: "/" };
    await ensureReaper(client, { lock: { driver: "local", pods: null }, settings }, "simulated");
    await ensureReaper(client, { lock: { driver: "local", pods: null }, settings }, "simulated");
    await ensureReaper(
      client,
      { lock: { driver: "kubernetes", pods }, settings: { ...settings, cluster } },
      "any",
    );
    let schedules: string[] = [];
    // The list is a search index, which lags behind.
    await until(async () => {
      schedules = [];
      for await (const { scheduleId } of client.schedule.list()) schedules.push(scheduleId);
      return schedules.length >= 2;
    });
    t.deepEqual(schedules.map((id) => id.replace(/-[0-9a-f]+$/, "")).toSorted(), [
      "reaper-kubernetes",
      "reaper-local",
    ]);
    for (const id of schedules) await client.schedule.getHandle(id).trigger();
    await until(() => seen.reaped.length > 0);
    // The other one's queue is served by no worker here.
    t.deepEqual(
      seen.reaped,
      schedules.filter((id) => id.startsWith("reaper-local")),
    );
    for (const id of schedules) await client.schedule.getHandle(id).delete();
  });
});
