import type { BlobStore } from "../../activities/store/blobs.ts";
import { systemNamed } from "../../activities/systems/registry.ts";
import type { ArmPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { SystemOptions } from "../cli/system-options.ts";
import { RULES } from "./models.ts";
import type { Wish } from "./plan.ts";

/** What the command line says of single systems' options. */
export type Asked = Pick<SystemOptions, "xpu" | "retriever" | "knowledge" | "speculate" | "profile">;

const FLAGS = ["xpu", "retriever", "knowledge", "speculate", "profile"] as const;

/** One arm per system, per model where the system takes one, and per variant of it. Throws UsageError. */
export function armsOf(systems: readonly string[], models: readonly string[], asked: Asked = {}): ArmPlan[] {
  const names = [...new Set(models)];
  const takers = systems.filter((name) => systemNamed(name)?.model !== undefined);
  if (names.length > 0 && takers.length === 0) {
    throw new UsageError(
      `--model ${names.join(",")}: none of ${systems.join(", ")} takes a model; leave it out`,
    );
  }
  refuseUseless(systems, asked);
  const arms = systems.flatMap((system) =>
    modelsOf(system, names).flatMap((model) => variantsOf(system, model, asked)),
  );
  return arms.map((arm, index) => {
    const twins = arms.slice(0, index).filter(({ id }) => id === arm.id).length;
    return twins === 0 ? arm : { ...arm, id: `${arm.id}-${twins + 1}` };
  });
}

function variantsOf(system: string, model: string | null, asked: Asked): ArmPlan[] {
  const variants = systemNamed(system)?.variants?.(asked) ?? [{ suffix: "", options: {} }];
  const named = model === null ? system : `${system}+${slug(model)}`;
  return variants.map(({ suffix, options }) => ({ id: `${named}${suffix}`, system, model, options }));
}

function refuseUseless(systems: readonly string[], asked: Asked): void {
  const flag = FLAGS.find((name) => asked[name] !== undefined);
  if (flag === undefined || systems.some((name) => systemNamed(name)?.variants !== undefined)) return;
  throw new UsageError(`--${flag}: none of ${systems.join(", ")} takes it; leave it out, or add setupx`);
}

function modelsOf(system: string, models: readonly string[]): (string | null)[] {
  const takes = systemNamed(system)?.model;
  if (takes === undefined || (takes === "optional" && models.length === 0)) return [null];
  if (models.length === 0) throw new UsageError(`--system ${system}: needs a model; name one with --model`);
  return models.map((model) => {
    if (model !== RULES) return model;
    if (takes === "optional") return null;
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
    const options = { ...arm.options };
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
