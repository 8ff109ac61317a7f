import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxRef } from "../../workflows/types.ts";
import type { ExecSpec, ExecStatus, SandboxDriver } from "./driver.ts";

export type Ended = Extract<ExecStatus, { state: "ended" }>;

export interface Watch {
  /** Called at each poll; an activity heartbeats here. */
  beat?: (status: ExecStatus) => void;
  /** Ends the waiting, not the command. */
  signal?: AbortSignal;
}

/** Well under the heartbeat's time limit, and long enough that a poll of a remote sandbox costs little. */
const PATIENCE_MS = 5_000;
/** Between answers of a driver that does not wait. */
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 1_000;

/**
 * Runs a command to its end: starts it (or re-attaches, when an earlier worker started the same id) and polls. When
 * the signal aborts, the abort is thrown and the command is left alone: a worker that shuts down must not end it (the
 * next one re-attaches), and a cancelled run destroys the whole sandbox anyway.
 */
export async function runCommand(
  driver: SandboxDriver,
  sandbox: SandboxRef,
  exec: ExecSpec,
  watch: Watch = {},
): Promise<Ended> {
  const { signal } = watch;
  await driver.start(sandbox, exec);
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const from = performance.now();
    const status = await driver.poll(sandbox, exec.id, { waitMs: PATIENCE_MS, ...(signal && { signal }) });
    watch.beat?.(status);
    if (status.state === "ended") return status;
    const waited = performance.now() - from;
    if (waited >= pause) continue;
    await sleep(pause - waited, undefined, signal ? { signal } : {});
    pause = Math.min(pause * 1.5, LAST_PAUSE_MS);
  }
}
