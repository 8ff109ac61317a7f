import { join, resolve } from "node:path";
import { once } from "../../once.ts";
import { initBinary } from "../common/init-binary.ts";
import { containedDriver } from "../contained/driver.ts";
import type { SandboxSpec } from "../driver.ts";
import { type Cluster, type ConnectOptions, connectCluster } from "./client.ts";
import { type EngineParts, kubernetesEngine } from "./engine.ts";
import { furnish, privilegeOf } from "./furnish.ts";
import { mountArchive } from "./mount-archive.ts";
import { podName, selector } from "./names.ts";
import { type NodeStores, nodeStores } from "./node-stores.ts";
import { programObject, sweepObject } from "./objects.ts";
import { placesOf } from "./places.ts";
import { callInPod } from "./pod-call.ts";
import type { Privilege } from "./pod-spec.ts";
import type { PodTemplate } from "./pod-template.ts";
import { type PodWatch, watchPods } from "./pod-watch.ts";
import { podsOf } from "./pods.ts";
import { privilegesOf } from "./privileges.ts";
import type { UserNamespaces } from "./probe.ts";
import { storePod } from "./store-pod.ts";
import { type WarmPool, warmPool } from "./warm-pool.ts";

export interface KubernetesOptions extends ConnectOptions {
  /** Sandboxes of other installations in the namespace are never touched; the same for all workers of one. */
  installation: string;
  /** Holds the compiled sandbox-init and archives of mounts. */
  stateFolder: string;
  template: PodTemplate;
  userNamespaces: UserNamespaces;
  /** Memory and CPU requests are the limits divided by this. */
  headroom: number;
  /** How long a pod may wait for room in the cluster. */
  capacitySeconds: number;
  /** Networks (a.b.c.d/n) that sandboxes must not reach, besides link-local and their node. */
  unreachable: readonly string[];
  /** Pods that wait ready of each kind that a sweep needs; 0 or not given: none. */
  warm?: number;
  /** Image of the probe for `capabilities()` before any sandbox was made; null: they are not known before that. */
  image: string | null;
  /** Told now and then what a pod waits for. */
  onWait?: (message: string) => void;
}

/** A pod made ahead of need waits no longer than this for room. */
const WARM_CAPACITY_SECONDS = 60;

/** The parts of a driver that share one connection and one watch. */
export function assemble(options: KubernetesOptions): { parts: EngineParts; watch: PodWatch } {
  const { installation, template, headroom, unreachable, onWait = () => {} } = options;
  const folder = resolve(options.stateFolder);
  const cluster = connectCluster(options);
  const watch = watchPods(cluster, selector(installation, null));
  const mounts = ({ mounts }: SandboxSpec) =>
    mountArchive(
      join(folder, "mounts"),
      mounts.map(({ source }) => source),
    );
  const program = once(async () => programObject(cluster, await initBinary(folder)));
  const parent = (sweep: string) => sweepObject(cluster, installation, sweep);
  const waits = { installation, onWait, makeRoom: async () => pool?.giveUp() };
  const pods = podsOf(cluster, watch, { ...waits, capacitySeconds: options.capacitySeconds });
  const stores = nodeStores({
    cluster,
    pods,
    manifest: async (sandbox, sweep) =>
      storePod({
        installation,
        template,
        sweep,
        node: sandbox.spec?.nodeName ?? "",
        image: sandbox.spec?.containers[0]?.image ?? "",
        program: await program(),
        userNamespace: privilegeOf(sandbox).userNamespace,
        parent: await parent(sweep),
      }),
  });
  const pool = options.warm ? makePool({ cluster, watch, stores, installation }, options.warm) : null;
  const shared = {
    cluster,
    pods,
    stores,
    installation,
    template,
    headroom,
    unreachable,
    program,
    parent,
    mounts,
  };
  const plain = placesOf({ cluster, pods, installation, pool: null });
  const driverWith = (privilege: Privilege) => {
    const capabilities = () => privileges.capabilities();
    const parts = { ...shared, places: plain, privilege: async () => privilege, capabilities };
    return containedDriver(kubernetesEngine(parts));
  };
  const addressOf = async (id: string) => (await pods.running(podName(installation, id))).status?.podIP ?? "";
  const privileges = privilegesOf(options, shared, driverWith, addressOf);
  const places = placesOf({ cluster, pods, installation, pool });
  return { parts: { ...shared, places, ...privileges }, watch };
}

function makePool(around: PoolAround, size: number): WarmPool {
  const { cluster, watch, stores, installation } = around;
  const quiet = { installation, onWait: () => {}, makeRoom: async () => {} };
  const pods = podsOf(cluster, watch, { ...quiet, capacitySeconds: WARM_CAPACITY_SECONDS });
  return warmPool({
    cluster,
    watch,
    pods,
    size,
    furnish: (pod, mounts) =>
      furnish(pod, mounts, (argv, input) =>
        callInPod({ cluster, pods, stores }, pod.metadata?.name ?? "", argv, input),
      ),
  });
}

interface PoolAround {
  cluster: Cluster;
  watch: PodWatch;
  stores: NodeStores;
  installation: string;
}
