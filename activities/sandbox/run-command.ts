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

const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 1_000;

/**
 * Runs a command to its end: starts it (or re-attaches, when an earlier worker started the same id) and polls with
 * growing intervals. When the signal aborts, the abort is thrown and the command is left alone: a worker that shuts
 * down must not end it (the next one re-attaches), and a cancelled run destroys the whole sandbox anyway.
 */
export async function runCommand(
  driver: SandboxDriver,
  sandbox: SandboxRef,
  exec: ExecSpec,
  watch: Watch = {},
): Promise<Ended> {
  await driver.start(sandbox, exec);
  let wait = FIRST_POLL_MS;
  for (;;) {
    const status = await driver.poll(sandbox, exec.id);
    watch.beat?.(status);
    if (status.state === "ended") return status;
    await sleep(wait, undefined, watch.signal ? { signal: watch.signal } : {});
    wait = Math.min(wait * 1.5, LAST_POLL_MS);
  }
}
