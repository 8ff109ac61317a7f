import { CancellationScope, proxyActivities } from "@temporalio/workflow";
import type { HostActivities, Purpose } from "./activities.ts";
import { CLOSE_SECONDS, onHost, PREPARE_SECONDS } from "./policies.ts";
import type { AttemptKey, OpenedSandbox, SandboxRef } from "./types.ts";

/** The attempt's sandbox with the repository in it. When that fails or is cancelled, nothing of it stays. */
export async function openSandbox(key: AttemptKey, host: string, purpose: Purpose): Promise<OpenedSandbox> {
  const prepare = proxyActivities<HostActivities>(onHost(host, PREPARE_SECONDS));
  try {
    return await prepare.openSandbox({ ...key, purpose });
  } catch (error) {
    await CancellationScope.nonCancellable(() => closing(host).discardSandbox({ ...key, purpose }));
    throw error;
  }
}

/** Teardown also happens on cancel, timeout and failure. */
export async function closeSandbox(host: string, sandbox: SandboxRef): Promise<void> {
  await CancellationScope.nonCancellable(() => closing(host).closeSandbox({ sandbox }));
}

function closing(host: string) {
  return proxyActivities<HostActivities>(onHost(host, CLOSE_SECONDS));
}
