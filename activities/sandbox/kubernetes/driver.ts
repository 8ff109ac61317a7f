import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { initBinary } from "../common/init-binary.ts";
import { containedDriver } from "../contained/driver.ts";
import type { Capabilities, SandboxDriver, SandboxSpec } from "../driver.ts";
import { type ConnectOptions, connectCluster } from "./client.ts";
import { type EngineParts, kubernetesEngine, podFor } from "./engine.ts";
import { privilegeOf } from "./furnish.ts";
import { mountArchive } from "./mount-archive.ts";
import { selector } from "./names.ts";
import { nodeStores } from "./node-stores.ts";
import { listSweeps, programObject, remembered, removeSweep, sweepObject } from "./objects.ts";
import type { Privilege } from "./pod-spec.ts";
import type { PodTemplate } from "./pod-template.ts";
import { watchPods } from "./pod-watch.ts";
import { podsOf } from "./pods.ts";
import { type Found, findPrivilege, type UserNamespaces } from "./probe.ts";
import { storePod } from "./store-pod.ts";

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
  /** Image of the probe for `capabilities()` before any sandbox was made; null: they are not known before that. */
  image: string | null;
  /** Told now and then what a pod waits for. */
  onWait?: (message: string) => void;
}

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
  const stateFolder = resolve(options.stateFolder);
  const { installation } = options;
  const cluster = connectCluster(options);
  const watch = watchPods(cluster, selector(installation, null));
  const onWait = options.onWait ?? (() => {});
  const pods = podsOf(cluster, watch, { installation, capacitySeconds: options.capacitySeconds, onWait });
  const program = once(async () => programObject(cluster, await initBinary(stateFolder)));
  const mounts = ({ mounts }: SandboxSpec) =>
    mountArchive(
      join(stateFolder, "mounts"),
      mounts.map(({ source }) => source),
    );
  const stores = nodeStores({
    cluster,
    pods,
    manifest: async (sandbox, sweep) =>
      storePod({
        ...pick(options),
        sweep,
        node: sandbox.spec?.nodeName ?? "",
        image: sandbox.spec?.containers[0]?.image ?? "",
        program: await program(),
        userNamespace: privilegeOf(sandbox).userNamespace,
        parent: await sweepObject(cluster, installation, sweep),
      }),
  });
  const partsWith = (privilege: EngineParts["privilege"]): EngineParts => ({
    cluster,
    pods,
    stores,
    ...pick(options),
    privilege,
    program,
    parent: (sweep) => sweepObject(cluster, installation, sweep),
    mounts,
    capabilities: async () => capabilitiesOf((await privilegeFor(options.image)).privilege),
  });
  const driverWith = (privilege: Privilege) =>
    containedDriver(kubernetesEngine(partsWith(async () => privilege)));
  const privilegeFor = perImage(async (image) => {
    const key = [
      installation,
      image,
      await program(),
      options.userNamespaces,
      JSON.stringify(options.template),
    ];
    const find = () => findPrivilege(probeSpec(image), options.userNamespaces, driverWith);
    return remembered(cluster, key, find);
  });
  const privilegeOfBase = async ({ base }: SandboxSpec) => (await privilegeFor(base.location)).privilege;
  return {
    ...containedDriver(kubernetesEngine(partsWith(privilegeOfBase))),
    check: async (spec) => pods.check(await podFor(partsWith(privilegeOfBase), spec)),
    listSweeps: () => listSweeps(cluster, installation),
    removeSweep: (sweep) => removeSweep(cluster, installation, sweep),
    async close() {
      watch.close();
      await cluster.close();
    },
  };
}

function pick({ installation, template, headroom, unreachable }: KubernetesOptions) {
  return { installation, template, headroom, unreachable };
}

function capabilitiesOf({ mounts, userNamespace }: Privilege): Capabilities {
  return {
    snapshots: mounts ? "layers" : "rebuild",
    networkSwitch: mounts,
    userNamespaces: false,
    limits: {
      memory: "kernel",
      processes: userNamespace ? "kernel" : "none",
      // The kubelet measures now and then, and evicts who is over the limit.
      disk: "watched",
    },
  };
}

function probeSpec(image: string): SandboxSpec {
  return {
    id: `probe-${randomBytes(6).toString("hex")}`,
    owner: { server: "none", sweep: "probe", run: "probe", attempt: 1, workflow: "probe" },
    base: { digest: "probe", location: image },
    limits: { memoryBytes: 256 << 20, processes: 100, diskBytes: 256 << 20, cpus: 1, deadlineSeconds: 600 },
    network: "off",
    environment: {},
    mounts: [],
  };
}

/** One probe per image and process; the first image's finding answers for a null one. */
function perImage(find: (image: string) => Promise<Found>): (image: string | null) => Promise<Found> {
  const found = new Map<string, Promise<Found>>();
  return (image) => {
    const known = image === null ? found.values().next().value : found.get(image);
    if (known) return known;
    if (image === null) {
      throw new Error(
        "what the cluster can do is found out by a pod, which needs an image. Remedy: kubernetes.image",
      );
    }
    const finding = find(image);
    found.set(image, finding);
    finding.catch(() => found.delete(image));
    return finding;
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    if (made === undefined) {
      made = make();
      made.catch(() => {
        made = undefined;
      });
    }
    return made;
  };
}
