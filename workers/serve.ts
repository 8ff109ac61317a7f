import { makeDeps } from "./deps.ts";
import { temporalConnectionOptions } from "./temporal-connection.ts";
import { createWorkers } from "./worker.ts";

export interface ServeOptions {
  state: string;
  address: string;
  namespace: string;
  /** See `TemporalService.server`. */
  server: string;
  /** Activities in flight; nearly all of them wait for a sandbox, so this is no measure of load. */
  activities: number;
}

/** Serves this machine's task queues until SIGTERM or SIGINT; what runs in sandboxes then goes on without it. */
export async function serve(options: ServeOptions): Promise<void> {
  const workers = await createWorkers({
    connection: temporalConnectionOptions(options.address),
    namespace: options.namespace,
    deps: makeDeps(options.state, options.server),
    activities: options.activities,
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => workers.shutdown());
  await workers.run();
}
