import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessIdentity, processState } from "../../activities/store/process-identity.ts";
import { checkTemporal } from "../../workers/temporal-connection.ts";
import { refusal } from "./port.ts";

const HEALTH_MS = 90_000;

/** Waits; an abort ends the wait early, without an error. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: Error) => {
    if (error.name !== "AbortError") throw error;
  });
}

/** Null when healthy; else the last failure, after the patience or as soon as the process is gone. */
export async function waitHealthy(
  identity: ProcessIdentity,
  host: string,
  port: number,
  namespace: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const until = performance.now() + HEALTH_MS;
  for (let wait = 50; ; wait = Math.min(wait * 1.5, 2_000)) {
    signal?.throwIfAborted();
    const failure = (await refusal(host, port)) ?? (await ailment(identity, host, port, namespace));
    // A stranger that took the port of a server that failed to start must not pass for it.
    if (processState(identity) === "dead") return failure ?? "another server answers at its port";
    if (failure === null || performance.now() > until) return failure;
    await sleep(wait, undefined, signal ? { signal } : {});
  }
}

async function ailment(
  identity: ProcessIdentity,
  host: string,
  port: number,
  namespace: string,
): Promise<string | null> {
  const check = checkTemporal({ address: `${host}:${port}` }, namespace).then(
    () => null,
    (error: Error) => error.message,
  );
  // The client goes on trying for its whole deadline, even when the server is gone for good.
  const checked = new AbortController();
  try {
    return await Promise.race([check, death(identity, checked.signal)]);
  } finally {
    checked.abort();
  }
}

async function death(identity: ProcessIdentity, signal: AbortSignal): Promise<string> {
  while (!signal.aborted && processState(identity) !== "dead") await pause(100, signal);
  return "the server ended";
}
