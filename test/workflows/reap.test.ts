import type { Client } from "@temporalio/client";
import test from "ava";
import { stageOf } from "../../activities/reaper/ask.ts";
import { reapOrphans } from "../../activities/reaper/reap.ts";
import type { SandboxOwner } from "../../activities/sandbox/driver.ts";
import { AMPLE, simulatedSweep } from "../../scripts/benchmark/simulated.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import type { RunInput } from "../../workflows/types.ts";
import { withSimulation } from "./harness.ts";

const SERVER = "this-server";

/** The sandboxes of these owners, each named by its own, and which of them were destroyed. */
function sandboxesOf(owners: Record<string, Partial<SandboxOwner>>) {
  const destroyed: string[] = [];
  const listed = Object.entries(owners).map(([id, owner]) => ({
    sandbox: { driver: "local" as const, id, host: "here" },
    owner: { server: SERVER, sweep: "s", run: "r", attempt: 1, workflow: "s/r", ...owner },
    createdAt: new Date().toISOString(),
  }));
  const driver = {
    list: async () => listed,
    destroy: async ({ id }: { id: string }) => void destroyed.push(id),
  };
  return { driver, destroyed };
}

/** A sweep whose one run is at work as its attempt 1. */
async function withLiveRun(name: string, work: (client: Client, run: string) => Promise<void>) {
  await withSimulation({ cells: 1, steps: 1_000, stepMs: 100 }, async (client, seen) => {
    const args = [simulatedSweep(name, 1)];
    const handle = await client.workflow.start("sweep", { workflowId: name, taskQueue: GENERAL_QUEUE, args });
    while (seen.opened.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await work(client, `${name}/task-0--nop`);
    await handle.cancel();
    await handle.result().catch(() => undefined);
  });
}

test.serial(
  "only sandboxes whose owner is gone are destroyed, and it is said why the others stay",
  async (t) => {
    await withLiveRun("reap-live", async (client, run) => {
      const { driver, destroyed } = sandboxesOf({
        live: { workflow: run },
        earlier: { workflow: run, attempt: 0 },
        unknown: { workflow: "reap-live/nothing" },
        foreign: { workflow: "reap-live/nothing", server: "other-server" },
      });
      const reaped = await reapOrphans(client, SERVER, driver);
      t.deepEqual(destroyed, ["earlier", "unknown"]);
      t.deepEqual(reaped.destroyed, destroyed);
      t.deepEqual(
        reaped.left.map(({ sandbox, why }) => [sandbox, why.replace(run, "RUN")]),
        [
          ["live", "its run RUN is at work"],
          [
            "foreign",
            "its run reap-live/nothing belongs to another Temporal server or namespace; name that with --address and --namespace",
          ],
        ],
      );
    });
  },
);

test.serial("an open run that no worker serves keeps its sandbox", async (t) => {
  await withSimulation({ cells: 1, steps: 1 }, async (client) => {
    const input: RunInput = {
      ...{ folder: "/nowhere", sweep: "s", cell: "c", task: "t", language: "python", attemptsBefore: 0 },
      arm: { id: "nop", system: "nop", model: null, options: {} },
      budget: AMPLE,
    };
    const handle = await client.workflow.start("run", {
      ...{ workflowId: "reap-unserved", taskQueue: "served-by-nobody", args: [input] },
    });
    const { driver, destroyed } = sandboxesOf({ unserved: { workflow: "reap-unserved" } });
    const { left } = await reapOrphans(client, SERVER, driver);
    t.deepEqual(left, [
      { sandbox: "unserved", why: "its run reap-unserved is open, and no worker says where it is" },
    ]);
    t.deepEqual(destroyed, []);
    await handle.terminate();
  });
});

test.serial("a run that answers wrongly is a fault, not silence, and its sandbox stays", async (t) => {
  await withLiveRun("reap-wrong", async (client) => {
    // A sweep's workflow knows no stage, as that of another version might not.
    const { driver, destroyed } = sandboxesOf({ wrong: { workflow: "reap-wrong" } });
    const said = { message: /^the run reap-wrong does not say where it is: .*stage/ };
    await t.throwsAsync(reapOrphans(client, SERVER, driver), said);
    await t.throwsAsync(stageOf(client, "reap-wrong"), said);
    t.deepEqual(destroyed, []);
    t.is(await stageOf(client, "reap-wrong/nothing"), null);
  });
});

test.serial(
  "what an ended sweep keeps besides its sandboxes is dropped, and a running one's is not",
  async (t) => {
    await withLiveRun("reap-kept", async (client) => {
      const released: string[] = [];
      const { driver } = sandboxesOf({});
      const sweeps = async () => ["reap-kept", "reap-ended"];
      await reapOrphans(client, SERVER, {
        ...driver,
        sweeps,
        release: async (sweep) => void released.push(sweep),
      });
      t.deepEqual(released, ["reap-ended"]);
    });
  },
);
