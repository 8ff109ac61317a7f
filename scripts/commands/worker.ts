import { serve } from "../../workers/serve.ts";
import type { WorkerOptions } from "../cli/worker-options.ts";
import { checkReady } from "../stack/ready.ts";
import { ensureTemporal } from "../stack/temporal.ts";

/** Serves task queues in the foreground, for a Temporal server that others use as well. */
export async function workerCommand(options: WorkerOptions): Promise<number> {
  await checkReady(options.state, options.address, options.queues.includes("host"));
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const { address, server } = await ensureTemporal({
    ...options,
    stateFolder: options.state,
    progress: tell,
  });
  const { queues, activities, cachedWorkflows, grace } = options;
  tell(`serving ${address} (${queues.join(", ")}); Ctrl-C stops it, and what runs in sandboxes goes on`);
  await serve({
    state: options.state,
    address,
    namespace: options.namespace,
    server,
    roles: queues,
    activities,
    cachedWorkflows,
    graceSeconds: grace,
    metrics: options.metrics ?? null,
    health: options.health ?? null,
  });
  return 0;
}
