import { isIPv6 } from "node:net";
import { Runtime } from "@temporalio/worker";
import { UsageError } from "../benchmarks/usage-error.ts";
import { makeDeps } from "./deps.ts";
import { type Listen, serveHealth } from "./health.ts";
import type { Role } from "./roles.ts";
import { temporalConnectionOptions } from "./temporal-connection.ts";
import type { Tuning } from "./tuning.ts";
import { createWorkers, type Workers } from "./worker.ts";

export interface ServeOptions extends Tuning {
  state: string;
  address: string;
  namespace: string;
  /** See `TemporalService.server`. */
  server: string;
  roles: readonly Role[];
  /** Where the Temporal SDK's metrics are served for Prometheus, below `/metrics`; null: nowhere. */
  metrics: Listen | null;
  /** Where `/livez` and `/readyz` are served; null: nowhere. */
  health: Listen | null;
}

/**
 * Serves task queues until SIGTERM or SIGINT. It then takes no new task, gives running activities their grace and
 * cancels the rest, which are tried again elsewhere; what runs in sandboxes goes on without it.
 */
export async function serve(options: ServeOptions): Promise<void> {
  installRuntime(options.metrics);
  let workers: Workers | null = null;
  let isStopped = false;
  // Before the workers are made: who is process 1 of a container gets no signal that it does not listen to.
  const stop = () => {
    isStopped = true;
    workers?.shutdown();
  };
  // Not once: a running child's handler would take itself for the only one that is left, and end the process.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  const health = options.health && (await serveHealth(options.health, () => workers));
  try {
    const connection = temporalConnectionOptions(options.address);
    workers = await createWorkers({
      ...options,
      connection,
      deps: makeDeps(options.state, { ...options, connection }),
    });
    const running = workers.run();
    if (isStopped) workers.shutdown();
    await running;
  } finally {
    health?.close();
  }
}

/** The SDK's own signal handlers would shut down only the workers that were made by then. */
function installRuntime(metrics: Listen | null): void {
  const bindAddress =
    metrics && `${isIPv6(metrics.host) ? `[${metrics.host}]` : metrics.host}:${metrics.port}`;
  try {
    Runtime.install({
      shutdownSignals: [],
      ...(bindAddress ? { telemetryOptions: { metrics: { prometheus: { bindAddress } } } } : {}),
    });
  } catch (error) {
    if (bindAddress === null) throw error;
    const { message } = error as Error;
    throw new UsageError(`--metrics ${bindAddress}: can't be listened at (${message}); name another address`);
  }
}
