import { randomUUID } from "node:crypto";
import type { SandboxSpec } from "../driver.ts";

/** A small sandbox that belongs to no run: made to see what an engine allows, and removed at once. */
export function probeSpec(image: string): SandboxSpec {
  return {
    id: `probe-${randomUUID()}`,
    owner: { server: "none", sweep: "probe", run: "probe", attempt: 1, workflow: "probe" },
    base: { digest: "probe", location: image },
    limits: { memoryBytes: 256 << 20, processes: 100, diskBytes: 256 << 20, cpus: 1, deadlineSeconds: 600 },
    network: "off",
    environment: {},
    mounts: [],
  };
}
