import { resolve } from "node:path";
import { containedDriver } from "../contained/driver.ts";
import type { SandboxDriver } from "../driver.ts";
import { type DockerOptions, dockerEngine } from "./engine.ts";

/**
 * Sandboxes in containers of a Docker-compatible engine. Throws CausedError `capacity` (with the remedy) when the
 * engine does not answer or refuses, `image_pull` when it has no such image, `sandbox_oom` and `sandbox_lost` for a
 * sandbox that has ended.
 */
export function dockerDriver(options: DockerOptions): SandboxDriver {
  return containedDriver(dockerEngine({ ...options, stateFolder: resolve(options.stateFolder) }));
}
