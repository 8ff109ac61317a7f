import type { BlobStore } from "../../activities/store/blobs.ts";
import { systemNamed } from "../../activities/systems/registry.ts";
import type { ArmPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { RULES } from "./models.ts";
import type { Wish } from "./plan.ts";

export type ArmWish = Pick<ArmPlan, "id" | "system" | "model">;

/** One arm per system, and per model where the system takes one. Throws UsageError. */
export function armsOf(systems: readonly string[], models: readonly string[]): ArmWish[] {
  const asked = [...new Set(models)];
  const takers = systems.filter((name) => systemNamed(name)?.model !== undefined);
  if (asked.length > 0 && takers.length === 0) {
    throw new UsageError(
      `--model ${asked.join(",")}: none of ${systems.join(", ")} takes a model; leave it out`,
    );
  }
  const arms = systems.flatMap((system) => armsOfSystem(system, asked));
  return arms.map((arm, index) => {
    const twins = arms.slice(0, index).filter(({ id }) => id === arm.id).length;
    return twins === 0 ? arm : { ...arm, id: `${arm.id}-${twins + 1}` };
  });
}

function armsOfSystem(system: string, models: readonly string[]): ArmWish[] {
  const takes = systemNamed(system)?.model;
  if (takes === undefined || (takes === "optional" && models.length === 0)) {
    return [{ id: system, system, model: null }];
  }
  if (models.length === 0) throw new UsageError(`--system ${system}: needs a model; name one with --model`);
  return models.map((model) => {
    if (model !== RULES) return { id: `${system}+${slug(model)}`, system, model };
    if (takes === "optional") return { id: system, system, model: null };
    throw new UsageError(`--model ${RULES}: ${system} has no rules to go by; name a model`);
  });
}

/** As a part of folder names and workflow ids. */
function slug(model: string): string {
  return model.toLowerCase().replaceAll(/[^a-z0-9._]+/g, "-");
}

/** A script's text goes to the store, so that a later change of the file can't change the sweep. */
export async function makeArms({ arms, scripts }: Wish, blobs: BlobStore): Promise<ArmPlan[]> {
  const made: ArmPlan[] = [];
  for (const arm of arms) {
    const options: ArmPlan["options"] = {};
    if (arm.system === "script" && scripts !== null) options.scripts = await storeScripts(scripts, blobs);
    made.push({ ...arm, options });
  }
  return made;
}

/** Digest of a JSON object: task id (or `*`) → digest of its script. */
async function storeScripts(scripts: NonNullable<Wish["scripts"]>, blobs: BlobStore): Promise<string> {
  const digests: Record<string, string> = {};
  for (const [task, text] of Object.entries(scripts)) digests[task] = await blobs.put(text);
  return blobs.put(JSON.stringify(digests));
}
