import type { V1Pod } from "@kubernetes/client-node";
import type { Cluster } from "./client.ts";
import type { MountArchive } from "./mount-archive.ts";
import { podName } from "./names.ts";
import { readClaim, removeClaim, writeClaim } from "./objects.ts";
import type { Pods } from "./pods.ts";
import type { WarmPool } from "./warm-pool.ts";

export interface PlacesOptions {
  cluster: Cluster;
  pods: Pods;
  installation: string;
  /** Null: every sandbox's pod has the name that its id gives it, and nothing needs to be looked up. */
  pool: WarmPool | null;
}

/** Which pod is a sandbox's. */
export interface Places {
  nameOf(id: string): Promise<string>;
  /** Gets, claims or makes the pod; it runs then. */
  provide(id: string, wanted: V1Pod, mounts: MountArchive | null, signal?: AbortSignal): Promise<V1Pod>;
  remove(id: string): Promise<void>;
}

/**
 * A claimed pod was named before anyone knew whose it would be. A record in the cluster says whose it is: the first one
 * counts, so that workers which open the same sandbox at once agree.
 */
export function placesOf({ cluster, pods, installation, pool }: PlacesOptions): Places {
  const own = (id: string) => podName(installation, id);
  if (pool === null) {
    return {
      nameOf: async (id) => own(id),
      provide: (_, wanted, __, signal) => pods.provide(wanted, signal),
      remove: (id) => pods.remove(own(id)),
    };
  }
  const known = new Map<string, string>();
  const nameOf = async (id: string) => {
    const name = known.get(id) ?? (await readClaim(cluster, installation, id)) ?? own(id);
    known.set(id, name);
    return name;
  };
  return {
    nameOf,
    async provide(id, wanted, mounts, signal) {
      const claimed = await pool.claim(wanted);
      const offered = claimed?.metadata?.name ?? own(id);
      const name = await writeClaim(
        cluster,
        installation,
        id,
        offered,
        wanted.metadata?.ownerReferences?.[0],
      );
      known.set(id, name);
      if (name !== offered && claimed !== null) await pods.remove(offered);
      const pod = name === own(id) ? await pods.provide(wanted, signal) : await pods.running(name);
      pool.refill(wanted, mounts);
      return pod;
    },
    async remove(id) {
      await pods.remove(await nameOf(id));
      await removeClaim(cluster, installation, id);
      known.delete(id);
    },
  };
}
