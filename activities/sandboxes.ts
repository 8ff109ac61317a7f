import { createHash } from "node:crypto";
import type { Purpose } from "../workflows/activities.ts";
import { sandboxLife } from "../workflows/policies.ts";
import type { AttemptKey, SandboxRef, SourceRef } from "../workflows/types.ts";
import { openAttempt, whileBeating } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { fetchSource, openTar } from "./source/fetch.ts";
import { REPOSITORY } from "./verify/context.ts";
import { verifierMounts } from "./verify/mounts.ts";

export async function prepareSource(deps: Deps, key: AttemptKey): Promise<SourceRef> {
  const { plan, task } = await openAttempt(key);
  const { mirrors, index, source_seconds, source_bytes } = plan.settings;
  return whileBeating(() =>
    fetchSource(task.source, {
      stateFolder: deps.stateFolder,
      mirrors,
      ...(index === null ? {} : { index }),
      timeoutSeconds: source_seconds,
      maxBytes: source_bytes,
    }),
  );
}

/** Get or create the attempt's sandbox for this purpose, with the repository at /workspace/repo. */
export async function openSandbox(
  deps: Deps,
  input: AttemptKey & { purpose: Purpose; source: SourceRef },
): Promise<SandboxRef> {
  const { plan } = await openAttempt(input);
  const { lock, settings } = plan;
  const { outputBytes: _, ...limits } = lock.limits;
  const driver = deps.driver(lock.driver);
  return whileBeating(async () => {
    const sandbox = await driver.create({
      id: sandboxId(input, input.purpose),
      owner: {
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
    });
    await driver.put(sandbox, "main", REPOSITORY, await openTar(deps.stateFolder, input.source));
    return sandbox;
  });
}

export async function closeSandbox(deps: Deps, input: { sandbox: SandboxRef }): Promise<void> {
  await whileBeating(() => deps.driver(input.sandbox.driver).destroy(input.sandbox));
}

export async function cutNetwork(deps: Deps, input: { sandbox: SandboxRef }): Promise<void> {
  await deps.driver(input.sandbox.driver).network(input.sandbox, "off");
}

/** Short enough for any driver's names, and derived from the attempt alone. */
export function sandboxId(key: AttemptKey, purpose: Purpose): string {
  const digest = createHash("sha256")
    .update([key.folder, key.sweep, key.cell, key.attempt, purpose].join("\n"))
    .digest("hex");
  return `b-${digest.slice(0, 20)}-${purpose}`;
}
