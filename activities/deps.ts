import type { Client } from "@temporalio/client";
import type { DriverPlan } from "../workflows/types.ts";
import type { SandboxDriver } from "./sandbox/driver.ts";
import type { BlobStore } from "./store/blobs.ts";

/** What activities work with; built once per worker process. */
export interface Deps {
  stateFolder: string;
  /** Name of this machine in host task queues. */
  host: string;
  /** Name of the Temporal server and namespace that own the sandboxes made here (`SandboxOwner.server`). */
  server: string;
  blobs: BlobStore;
  /** What provides the sandboxes of sweeps with this plan. */
  driver(plan: DriverPlan): SandboxDriver;
  /** Connected when it is first asked for. */
  client(): Promise<Client>;
}
