import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import test from "ava";
import { claimAttempt, writeRecordOnce } from "../../activities/store/sweep-folder.ts";
import { simulatedSweep } from "../../scripts/benchmark/simulated.ts";
import { followSweep } from "../../scripts/sweep/follow.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import { recordOf } from "../results/record-fixture.ts";
import { withSimulation } from "./harness.ts";

const CELLS = Array.from({ length: 30 }, (_, index) => `task-${index}--nop`);

/** A folder with the records that simulated runs do not write. */
async function writeRecords(sweep: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-follow-"));
  for (const cell of CELLS) {
    const key = { folder, sweep, cell, attempt: 1 };
    await claimAttempt(key);
    await writeRecordOnce(key, recordOf({ sweep, cell }));
  }
  return folder;
}

/** The cells that are shown as finished, in the order of showing. */
async function finishedIn(client: Client, id: string, folder: string, fromStart: boolean): Promise<string[]> {
  const finished: string[] = [];
  await followSweep({
    ...{ client, id, folder, fromStart, signal: new AbortController().signal, tell: () => undefined },
    show: (view) => finished.push(...view.finished.map((record) => record.cell)),
  });
  return finished;
}

test.serial("each cell that ends is shown once, however many end between two looks", async (t) => {
  const folder = await writeRecords("follow");
  await withSimulation({ cells: CELLS.length, steps: 1 }, async (client) => {
    const args = [simulatedSweep("follow", 10)];
    await client.workflow.start("sweep", { workflowId: "follow", taskQueue: GENERAL_QUEUE, args });
    const finished = await finishedIn(client, "follow", folder, true);
    t.deepEqual(finished.toSorted(), CELLS.toSorted());
    t.deepEqual(await finishedIn(client, "follow", folder, false), []);
  });
  await rm(folder, { recursive: true });
});
