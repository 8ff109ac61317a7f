import type { SandboxDriver } from "../../activities/sandbox/driver.ts";
import { runCommand } from "../../activities/sandbox/run-command.ts";
import type { SandboxRef } from "../../workflows/types.ts";

/** Milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Runs a command in a sandbox's main root; one that fails is an error. */
export async function mustRun(
  driver: SandboxDriver,
  sandbox: SandboxRef,
  id: string,
  command: string,
): Promise<void> {
  const limits = { seconds: 300, outputBytes: 2 ** 20 };
  const exec = { id, root: "main", command, cwd: "/", environment: {}, stdin: null, ...limits };
  const ended = await runCommand(driver, sandbox, exec);
  if (ended.exit !== 0) throw new Error(`${id} ended as ${ended.end}, ${ended.exit}`);
}
