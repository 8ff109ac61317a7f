import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
} from "@temporalio/workflow";
import { CAUSES, isCause } from "../results/causes.ts";
import type { HostActivities } from "./activities.ts";
import { failureOf } from "./failures.ts";
import { CLOSE_SECONDS, onHost, opening } from "./policies.ts";
import type { AttemptKey, OpenedSandbox, Purpose, SandboxLoss, SandboxRef } from "./types.ts";

/** What the sandboxes of one attempt have in common; the lists are filled as things happen. */
export interface Sandboxes {
  key: AttemptKey;
  host: string;
  losses: SandboxLoss[];
  /** Sandboxes that could not be removed, and why: the reaper's work. */
  left: string[];
}

export interface LiveSandbox {
  /** The first of them, with the source that all hold. */
  opened: OpenedSandbox;
  /** Calls `task` with the present sandbox; when that one is lost meanwhile, again with the one that took its place. */
  use<T>(task: (sandbox: SandboxRef) => Promise<T>): Promise<T>;
}

/**
 * Gives `work` a sandbox of the attempt with the repository in it, and closes it afterwards. A lost one is replaced,
 * as often as the table of causes allows: `rebuild` brings the new one to where the old one was.
 */
export async function withSandbox<T>(
  sandboxes: Sandboxes,
  purpose: Purpose,
  rebuild: (sandbox: SandboxRef) => Promise<void>,
  work: (live: LiveSandbox) => Promise<T>,
): Promise<T> {
  const { losses } = sandboxes;
  let generation = 0;
  const opened = await openSandbox(sandboxes, purpose, generation);
  let present: SandboxRef | null = opened.sandbox;
  let replacement: Promise<SandboxRef> | null = null;
  const replace = async () => {
    if (present) await closeSandbox(sandboxes, present);
    present = null;
    present = (await openSandbox(sandboxes, purpose, ++generation)).sandbox;
    await rebuild(present);
    return present;
  };
  const use = async <U>(task: (sandbox: SandboxRef) => Promise<U>): Promise<U> => {
    for (;;) {
      const known: Promise<SandboxRef> | null = replacement;
      try {
        return await task(await (known ?? opened.sandbox));
      } catch (error) {
        const loss = lossOf(error);
        if (loss === null) throw error;
        // Of tasks that lose it together, the first one has it replaced.
        if (replacement !== known) continue;
        if (losses.length >= CAUSES[loss.cause].retries) throw error;
        losses.push({ purpose, ...loss });
        replacement = replace();
      }
    }
  };
  try {
    return await work({ opened, use });
  } finally {
    if (present) await closeSandbox(sandboxes, present);
  }
}

/** The sandbox alone is gone, and its driver says so; a host that does not answer would not answer the next time. */
function lossOf(error: unknown): Omit<SandboxLoss, "purpose"> | null {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) return null;
  return isCause(error.cause.type) && CAUSES[error.cause.type].resumes ? failureOf(error) : null;
}

/** When opening fails or is cancelled, nothing of the sandbox stays. */
async function openSandbox(
  { key, host, left }: Sandboxes,
  purpose: Purpose,
  generation: number,
): Promise<OpenedSandbox> {
  const prepare = proxyActivities<HostActivities>(opening(host));
  const sandbox = { ...key, purpose, generation };
  try {
    return await prepare.openSandbox(sandbox);
  } catch (error) {
    await remove(left, `${purpose} sandbox`, () => closing(host).discardSandbox(sandbox));
    throw error;
  }
}

async function closeSandbox({ key, host, left }: Sandboxes, sandbox: SandboxRef): Promise<void> {
  await remove(left, sandbox.id, () => closing(host).closeSandbox({ ...key, sandbox }));
}

/**
 * Teardown also happens on cancel, timeout and failure. That it fails takes nothing from what was measured, nor is it
 * the cause of what failed before it.
 */
async function remove(left: string[], name: string, teardown: () => Promise<void>): Promise<void> {
  try {
    await CancellationScope.nonCancellable(teardown);
  } catch (error) {
    left.push(`${name}: ${failureOf(error).detail}`);
  }
}

function closing(host: string) {
  return proxyActivities<HostActivities>(onHost(host, CLOSE_SECONDS));
}
