import { createHash } from "node:crypto";
import { cancellationSignal } from "@temporalio/activity";
import type { Task } from "../benchmarks/schema.ts";
import type { SweepPlan } from "../benchmarks/sweep-plan.ts";
import { sandboxLife } from "../workflows/policies.ts";
import type { AttemptKey, OpenedSandbox, SandboxKey, SandboxRef, SourceRef } from "../workflows/types.ts";
import { openAttempt, whileBeating } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import type { SandboxSpec } from "./sandbox/driver.ts";
import { fetchSource, openTar } from "./source/fetch.ts";
import { REPOSITORY } from "./verify/context.ts";
import { verifierMounts } from "./verify/mounts.ts";

/** Gets or creates this sandbox of the attempt, with the repository at /workspace/repo. */
export async function openSandbox(deps: Deps, input: SandboxKey): Promise<OpenedSandbox> {
  const { plan, task } = await openAttempt(input);
  const driver = deps.driver(plan);
  return whileBeating(async () => {
    const source = await prepareSource(deps, plan, task);
    const sandbox = await driver.create(sandboxSpec(deps.server, plan, input), cancellationSignal());
    await driver.put(sandbox, "main", REPOSITORY, await openTar(deps.stateFolder, source));
    return { sandbox, source, snapshots: (await driver.capabilities()).snapshots };
  });
}

async function prepareSource(deps: Deps, plan: SweepPlan, task: Task): Promise<SourceRef> {
  const { mirrors, index, source_seconds, source_bytes } = plan.settings;
  const { digest, revision, bytes, notes } = await fetchSource(task.source, {
    stateFolder: deps.stateFolder,
    mirrors,
    index,
    timeoutSeconds: source_seconds,
    maxBytes: source_bytes,
    signal: cancellationSignal(),
  });
  return { digest, revision, bytes, notes };
}

/** What the driver is asked for; `server` as in SandboxOwner. */
export function sandboxSpec(server: string, { lock, settings }: SweepPlan, input: SandboxKey): SandboxSpec {
  const { outputBytes: _, ...limits } = lock.limits;
  return {
    id: sandboxId(input),
    owner: {
      server,
      sweep: input.sweep,
      run: input.cell,
      attempt: input.attempt,
      workflow: `${input.sweep}/${input.cell}`,
    },
    base: { digest: lock.base.digest, location: settings.base_location },
    limits: { ...limits, deadlineSeconds: sandboxLife(lock.budget) },
    network: "on",
    environment: settings.environment,
    mounts: input.purpose === "replay" ? [...settings.mounts, ...verifierMounts()] : settings.mounts,
  };
}

export async function closeSandbox(deps: Deps, input: AttemptKey & { sandbox: SandboxRef }): Promise<void> {
  const { plan } = await openAttempt(input);
  await whileBeating(() => deps.driver(plan).destroy(input.sandbox));
}

/** Destroys what a failed or cancelled opening left of the attempt's sandbox. */
export async function discardSandbox(deps: Deps, input: SandboxKey): Promise<void> {
  const { plan } = await openAttempt(input);
  const driver = deps.driver(plan);
  const sandbox = { driver: driver.name, id: sandboxId(input), host: deps.host };
  await whileBeating(() => driver.destroy(sandbox));
}

/** Short enough for any driver's names, and derived from the attempt alone. */
function sandboxId({ folder, sweep, cell, attempt, purpose, generation }: SandboxKey): string {
  const digest = createHash("sha256")
    .update([folder, sweep, cell, attempt, purpose, generation].join("\n"))
    .digest("hex");
  return `b-${digest.slice(0, 20)}-${purpose}`;
}
