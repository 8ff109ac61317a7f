import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Caller } from "../../activities/model/call.ts";
import type { Role } from "../../activities/model/role.ts";
import type { Policy } from "../../activities/model/run-role.ts";
import { fileBlobStore } from "../../activities/store/blobs.ts";
import type { EndpointPlan, ModelPlan } from "../../benchmarks/model-plan.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";

/** A role of two fields, and what answers it. */
export const colour: Role<{ thing: string }, { colour: string; sure: boolean }> = {
  name: "colour",
  input: z.object({ thing: z.string() }),
  output: z.object({ colour: z.string(), sure: z.boolean() }),
  instructions: "Say which colour a thing has.",
  render: ({ thing }) => [{ role: "user", content: thing }],
  rules: ({ thing }) => ({ colour: thing === "grass" ? "green" : "grey", sure: thing === "grass" }),
};

export const GREEN = JSON.stringify({ colour: "green", sure: true });

export const MODEL: ModelPlan = {
  model: "test-model",
  temperature: null,
  max_output_tokens: 1_000,
  structured: "auto",
  body: {},
  price: { input: 1, cached: 0.1, output: 10, long: null, as_of: "2026-01-01", source: "this test" },
};

export function endpointAt(url: string, changes: Partial<EndpointPlan> = {}): EndpointPlan {
  return {
    url,
    key_env: null,
    headers: {},
    call_seconds: 20,
    patience_seconds: 20,
    parallel: 8,
    stream: true,
    ...changes,
  };
}

interface CallerChanges {
  endpoint?: Partial<EndpointPlan>;
  model?: Partial<ModelPlan>;
  limits?: { run?: { usd?: number; tokens?: number }; sweep?: { usd?: number; tokens?: number } };
  cache?: boolean;
  signal?: AbortSignal;
}

/** A caller with a state folder of its own, which `remove` takes away. */
export async function testCaller(
  url: string,
  changes: CallerChanges = {},
): Promise<{ caller: Caller; remove: () => Promise<void> }> {
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-model-"));
  const folder = join(stateFolder, "sweeps", "s");
  await mkdir(folder, { recursive: true });
  const { run = {}, sweep = {} } = changes.limits ?? {};
  const plan = {
    lock: { budget: { usd: run.usd ?? null, tokens: run.tokens ?? null } },
    settings: {
      model_cache: changes.cache ?? false,
      spending: { usd: sweep.usd ?? null, tokens: sweep.tokens ?? null },
    },
  };
  const caller: Caller = {
    key: { folder, sweep: "s", cell: "task--arm", attempt: 1 },
    sweep: plan as SweepPlan,
    repeat: 1,
    model: { ...MODEL, ...changes.model },
    endpoint: endpointAt(url, changes.endpoint),
    blobs: fileBlobStore(join(stateFolder, "blobs")),
    stateFolder,
    signal: changes.signal ?? new AbortController().signal,
  };
  return { caller, remove: () => rm(stateFolder, { recursive: true, force: true }) };
}

export function policyOf(caller: Caller, step = 1): Policy {
  return { kind: "openai", caller, step, part: 0, made: new Map() };
}
