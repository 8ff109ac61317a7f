import { containedDriver } from "../contained/driver.ts";
import type { SandboxDriver, SandboxSpec } from "../driver.ts";
import { assemble, type KubernetesOptions } from "./assemble.ts";
import { kubernetesEngine, podFor } from "./engine.ts";
import { listSweeps, removeSweep } from "./objects.ts";

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
  /** Lets the server look at such a sandbox's pod without making it. Throws UsageError when it would refuse it. */
  check(spec: SandboxSpec): Promise<void>;
  /** Sweeps that still have an owner object in the namespace. */
  listSweeps(): Promise<string[]>;
  /** Deletes a sweep's owner object; the cluster then deletes what pods the sweep still has. */
  removeSweep(sweep: string): Promise<void>;
  /** Ends the watch and the connections; a later call opens them again. */
  close(): Promise<void>;
}

/**
 * Sandboxes as pods. Any process with the same options finds them by their ids alone. Throws UsageError when there is no
 * cluster to be found; nothing is sent before the first call.
 */
export function kubernetesDriver(options: KubernetesOptions): KubernetesDriver {
  const { parts, watch } = assemble(options);
  const { cluster, pods, installation } = parts;
  return {
    ...containedDriver(kubernetesEngine(parts)),
    check: async (spec) => pods.check(await podFor(parts, spec)),
    listSweeps: () => listSweeps(cluster, installation),
    removeSweep: (sweep) => removeSweep(cluster, installation, sweep),
    async close() {
      watch.close();
      await cluster.close();
    },
  };
}
