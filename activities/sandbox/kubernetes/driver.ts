import { UsageError } from "../../../benchmarks/usage-error.ts";
import { containedDriver } from "../contained/driver.ts";
import type { SandboxDriver, SandboxSpec } from "../driver.ts";
import { assemble, type KubernetesOptions } from "./assemble.ts";
import { type EngineParts, kubernetesEngine } from "./engine.ts";
import { podName } from "./names.ts";
import { listSweeps, removeSweep } from "./objects.ts";
import { podManifest } from "./pod-spec.ts";
import { candidates } from "./probe.ts";

export type { KubernetesOptions } from "./assemble.ts";

/** As the settings have them where nothing else is said. */
export const KUBERNETES_DEFAULTS = {
  kubeconfig: null,
  context: null,
  namespace: null,
  template: {},
  userNamespaces: "auto",
  headroom: 2.5,
  capacitySeconds: 3_600,
  unreachable: [],
  image: null,
} as const satisfies Partial<KubernetesOptions>;

export interface KubernetesDriver extends SandboxDriver {
  /** Lets the server look at such a sandbox's pod without making it. */
  check(spec: SandboxSpec): Promise<void>;
  /** Sweeps that still have an owner object in the namespace. */
  sweeps(): Promise<string[]>;
  /** Deletes a sweep's owner object; the cluster then deletes what pods the sweep still has. */
  release(sweep: string): Promise<void>;
  /** Ends the watch and the connections; a later call opens them again. */
  close(): Promise<void>;
}

/**
 * Sandboxes as pods. Any process with the same options finds them by their ids alone. Throws UsageError when there is no
 * cluster to be found; nothing is sent before the first call.
 */
export function kubernetesDriver(options: KubernetesOptions): KubernetesDriver {
  const { parts, watch } = assemble(options);
  const { cluster, installation } = parts;
  return {
    ...containedDriver(kubernetesEngine(parts)),
    check: (spec) => checkPods(options, parts, spec),
    sweeps: () => listSweeps(cluster, installation),
    release: (sweep) => removeSweep(cluster, installation, sweep),
    async close() {
      watch.close();
      await cluster.close();
    },
  };
}

/** What the server refuses of every privilege that may be tried, it refuses of the template or the namespace. */
async function checkPods(options: KubernetesOptions, parts: EngineParts, spec: SandboxSpec): Promise<void> {
  let refused: unknown;
  for (const privilege of candidates(options.userNamespaces)) {
    const settings = { ...parts, privilege, program: "none", mounts: null, waitSeconds: 1, parent: null };
    try {
      return await parts.pods.check(podManifest(podName(parts.installation, spec.id), spec, settings));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      refused = error;
    }
  }
  throw refused;
}
