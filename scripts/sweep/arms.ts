import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "../../activities/store/blobs.ts";
import { folderName } from "../../benchmarks/cells.ts";
import type { Task } from "../../benchmarks/schema.ts";
import type { ArmPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { readScript } from "./plan.ts";

/** One arm per system; a script's text goes to the store, so that a later change of the file can't change the sweep. */
export async function makeArms(
  systems: readonly string[],
  script: string | undefined,
  tasks: readonly Task[],
  blobs: BlobStore,
): Promise<ArmPlan[]> {
  const arms: ArmPlan[] = [];
  for (const system of systems) {
    const options: ArmPlan["options"] = {};
    if (system === "script" && script !== undefined)
      options.scripts = await storeScripts(script, tasks, blobs);
    arms.push({ id: system, system, model: null, options });
  }
  return arms;
}

/** Digest of a JSON object: task id (or `*`) → digest of its script. */
async function storeScripts(path: string, tasks: readonly Task[], blobs: BlobStore): Promise<string> {
  const found = await stat(path).catch(() => {
    throw new UsageError(`--script ${path}: no such file or folder`);
  });
  if (!found.isDirectory()) {
    return blobs.put(JSON.stringify({ "*": await blobs.put(await readScript(path)) }));
  }
  const files = new Set(await readdir(path));
  const scripts: Record<string, string> = {};
  for (const task of tasks) {
    const file = `${folderName(task.id)}.sh`;
    if (files.has(file)) scripts[task.id] = await blobs.put(await readScript(join(path, file)));
  }
  if (Object.keys(scripts).length === 0) {
    throw new UsageError(`--script ${path}: no <task>.sh for any selected repository (a slash becomes __)`);
  }
  return blobs.put(JSON.stringify(scripts));
}
