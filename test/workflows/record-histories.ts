import { mkdir, writeFile } from "node:fs/promises";
import type { Client } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { type Simulation, simulatedSweep } from "../../scripts/benchmark/simulated.ts";
import { GENERAL_QUEUE } from "../../workflows/policies.ts";
import { everyAction } from "./every-action.ts";
import { withSimulation } from "./harness.ts";

/**
 * Records the histories that test/replay.test.ts replays. Run it when a change of the workflows is meant to break
 * running sweeps, and say so in the changelog: `node test/workflows/record-histories.ts`.
 */
const FOLDER = new URL("../histories/", import.meta.url);

async function record(
  name: string,
  simulation: Simulation,
  during?: (client: Client, id: string) => Promise<void>,
) {
  await withSimulation(simulation, async (client) => {
    const id = `recorded-${name}`;
    const handle = await client.workflow.start("sweep", {
      workflowId: id,
      taskQueue: GENERAL_QUEUE,
      args: [simulatedSweep(id, 2)],
    });
    await during?.(client, id);
    await handle.result().catch((error: Error) => console.error(`${name}: ${error.message}`));
    await save(client, `${name}-sweep`, id);
    await save(client, `${name}-run`, `${id}/task-0--${simulation.system ?? "nop"}`);
  });
}

async function save(client: Client, name: string, workflowId: string): Promise<void> {
  const history = historyToJSON(await client.workflow.getHandle(workflowId).fetchHistory());
  await writeFile(
    new URL(`${name}.json`, FOLDER),
    `${JSON.stringify({ workflowId, history: JSON.parse(history) })}\n`,
  );
}

await mkdir(FOLDER, { recursive: true });
await record("plain", { cells: 3, steps: 3 });
await record("retried", {
  cells: 2,
  steps: 1,
  failWith: (cell, attempt) => (cell === "task-0--nop" && attempt < 3 ? "sandbox_lost" : null),
});
await record("ungraded", { cells: 2, steps: 1, failWith: () => "source_vanished" });
await record("cancelled", { cells: 4, steps: 40, stepMs: 50 }, async (client, id) => {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await client.workflow.getHandle(id).cancel();
});
await record("setupx", everyAction());
process.exit();
