import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Ask } from "../../activities/knowledge/distill/by-model.ts";
import { type Policy, runRole } from "../../activities/model/run-role.ts";
import { fileBlobStore } from "../../activities/store/blobs.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { ModelOptions } from "../cli/model-options.ts";
import { checkKeys, resolveModels } from "../sweep/models.ts";

/** Asks the model of `--model`; null without one, when rules decide. Calls of the same `about` share a journal. */
export async function askerOf(
  options: ModelOptions & { state: string },
  signal: AbortSignal,
): Promise<((about: string) => Ask) | null> {
  const { plans, endpoints } = await resolveModels(options);
  const [name, ...others] = Object.keys(plans);
  if (name === undefined) return null;
  if (others.length > 0) throw new UsageError(`--model ${options.model.join(",")}: name one model`);
  const [model, endpoint] = [plans[name], endpoints[name]];
  if (model === undefined || endpoint === undefined) throw new Error(`no model ${name}`);
  checkKeys(endpoints, "here");
  const stateFolder = resolve(options.state);
  const folder = join(stateFolder, "knowledge", "calls");
  await mkdir(folder, { recursive: true });
  const limits = {
    lock: { budget: { usd: options.runUsd ?? null, tokens: options.runTokens ?? null } },
    settings: {
      model_cache: options.modelCache,
      spending: { usd: options.sweepUsd ?? null, tokens: options.sweepTokens ?? null },
    },
  };
  return (about) => {
    const caller = {
      key: { folder, sweep: "knowledge", cell: about.replaceAll("/", "__"), attempt: 1 },
      // What calls need of a plan is what they may spend.
      sweep: limits as SweepPlan,
      ...{ repeat: 1, model, endpoint, stateFolder, signal },
      blobs: fileBlobStore(join(stateFolder, "blobs")),
    };
    const policy: Policy = { kind: "openai", caller, step: 0, part: 0, made: new Map() };
    return (role, input) => runRole(role, input, policy);
  };
}
