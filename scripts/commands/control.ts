import { setTimeout as sleep } from "node:timers/promises";
import { workflowState } from "../../activities/reaper/ask.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { CommonOptions } from "../cli/options.ts";
import { changeParallel } from "../sweep/client.ts";
import { openSweepByName } from "../sweep/open.ts";

export async function pauseSweep(options: CommonOptions, id: string): Promise<number> {
  const { client } = await openSweepByName(options, id, "running");
  await client.workflow.getHandle(id).signal("pause", "paused by hand");
  return say(
    options,
    { sweep: id, paused: true },
    `sweep ${id} is paused; go on with: pnpm bench unpause ${id}`,
  );
}

export async function unpauseSweep(options: CommonOptions, id: string): Promise<number> {
  const { client } = await openSweepByName(options, id, "running");
  await client.workflow.getHandle(id).signal("unpause");
  return say(options, { sweep: id, paused: false }, `sweep ${id} goes on`);
}

/** Returns when the sweep has ended and its sandboxes are gone. */
export async function cancelSweep(options: CommonOptions, id: string): Promise<number> {
  const { client } = await openSweepByName(options, id, "running");
  await client.workflow.getHandle(id).cancel();
  while ((await workflowState(client, id)) === "running") await sleep(500);
  const text = `sweep ${id} was cancelled; finished cells are kept, the rest runs with: pnpm bench resume ${id}`;
  return say(options, { sweep: id, cancelled: true }, text);
}

export async function setParallel(options: CommonOptions, id: string, setting: string): Promise<number> {
  const match = /^parallel=(\d+)$/.exec(setting);
  if (match === null) throw new UsageError(`set ${setting}: the only setting is parallel=N`);
  const { client } = await openSweepByName(options, id, "running");
  const parallel = await changeParallel(client, id, Number(match[1])).catch((error: Error) => {
    throw new UsageError(`set ${setting}: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  return say(options, { sweep: id, parallel }, `sweep ${id} runs ${parallel} cells at a time`);
}

function say(options: CommonOptions, json: object, text: string): number {
  process.stdout.write(options.json ? `${JSON.stringify(json)}\n` : `${text}\n`);
  return 0;
}
