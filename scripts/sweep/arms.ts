import type { BlobStore } from "../../activities/store/blobs.ts";
import type { ArmPlan } from "../../benchmarks/sweep-plan.ts";
import type { Wish } from "./plan.ts";

/** One arm per system; a script's text goes to the store, so that a later change of the file can't change the sweep. */
export async function makeArms({ systems, scripts }: Wish, blobs: BlobStore): Promise<ArmPlan[]> {
  const arms: ArmPlan[] = [];
  for (const system of systems) {
    const options: ArmPlan["options"] = {};
    if (system === "script" && scripts !== null) options.scripts = await storeScripts(scripts, blobs);
    arms.push({ id: system, system, model: null, options });
  }
  return arms;
}

/** Digest of a JSON object: task id (or `*`) → digest of its script. */
async function storeScripts(scripts: NonNullable<Wish["scripts"]>, blobs: BlobStore): Promise<string> {
  const digests: Record<string, string> = {};
  for (const [task, text] of Object.entries(scripts)) digests[task] = await blobs.put(text);
  return blobs.put(JSON.stringify(digests));
}
