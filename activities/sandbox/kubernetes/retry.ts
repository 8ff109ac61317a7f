import { setTimeout as sleep } from "node:timers/promises";
import { type ApiError, isPassing } from "./api-error.ts";

const FIRST_WAIT_MS = 200;
const LAST_WAIT_MS = 10_000;
/** A server may ask for longer than we are ready to be idle at a stretch. */
const LONGEST_RETRY_AFTER_MS = 30_000;

/** Asks again while the failure may pass, with growing waits, until `patienceMs` have gone by; then throws the last. */
export async function retrying<T>(
  patienceMs: number,
  attempt: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const end = Date.now() + patienceMs;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LAST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const pause = pauseFor(error, wait);
      if (Date.now() + pause > end) throw error;
      await sleep(pause, undefined, signal ? { signal } : {});
    }
  }
}

/** Half of the wait is chance: hundreds of runs that lost the server together must not come back together. */
function pauseFor(error: ApiError, wait: number): number {
  const jittered = wait / 2 + Math.random() * (wait / 2);
  return Math.max(jittered, Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS));
}
