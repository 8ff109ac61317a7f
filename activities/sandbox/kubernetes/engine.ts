import type { V1Pod } from "@kubernetes/client-node";
import { KUBERNETES_HOST } from "../../../workflows/policies.ts";
import type { SandboxRef } from "../../../workflows/types.ts";
import { insideNetwork } from "../contained/driver.ts";
import type { CallInput, ContainerEngine } from "../contained/engine.ts";
import type { Capabilities, SandboxOwner, SandboxSpec } from "../driver.ts";
import type { Cluster } from "./client.ts";
import { furnish, furnished, privilegeOf, provided, serverAddress } from "./furnish.ts";
import { limiter } from "./limiter.ts";
import type { MountArchive } from "./mount-archive.ts";
import { ANNOTATIONS, LABELS, podName, selector } from "./names.ts";
import type { NodeStores } from "./node-stores.ts";
import type { Places } from "./places.ts";
import { callInPod } from "./pod-call.ts";
import { type Privilege, podManifest } from "./pod-spec.ts";
import type { PodTemplate } from "./pod-template.ts";
import type { Pods } from "./pods.ts";

export interface EngineParts {
  cluster: Cluster;
  pods: Pods;
  places: Places;
  stores: NodeStores;
  installation: string;
  template: PodTemplate;
  headroom: number;
  unreachable: readonly string[];
  privilege(spec: SandboxSpec): Promise<Privilege>;
  /** Name of the ConfigMap with the program. */
  program(): Promise<string>;
  parent(sweep: string): Promise<{ name: string; uid: string } | null>;
  mounts(spec: SandboxSpec): Promise<MountArchive | null>;
  capabilities(): Promise<Capabilities>;
}

/** Exec sockets at once. Each is short, but a poll that waits for a command's end holds one for seconds. */
const CALLS = 256;
const WAIT_FOR_BEGIN_SECONDS = 900;

/** Pods as the containers of sandboxes: one bare pod each, found by the name that its sandbox's id gives it. */
export function kubernetesEngine(parts: EngineParts): ContainerEngine {
  const { cluster, pods, places, installation } = parts;
  const calling = limiter(CALLS);
  const call = async (ref: SandboxRef, argv: readonly string[], input: CallInput | null) => {
    const name = await places.nameOf(ref.id);
    return calling(() => callInPod(parts, name, argv, input));
  };
  const reference = (id: string): SandboxRef => ({ driver: "kubernetes", id, host: KUBERNETES_HOST });
  const engine: ContainerEngine = {
    name: "kubernetes",
    capabilities: parts.capabilities,
    call,
    async create(spec, signal) {
      const mounts = await parts.mounts(spec);
      const pod = await places.provide(spec.id, await podFor(parts, spec), mounts, signal);
      const ref = reference(spec.id);
      const inside = furnished(pod) ?? (await furnish(pod, mounts, (argv, input) => call(ref, argv, input)));
      return provided(ref, pod, [...parts.unreachable, ...serverAddress(cluster), ...inside.unreachable]);
    },
    async network(ref, state) {
      const name = await places.nameOf(ref.id);
      const pod = await pods.running(name);
      if (privilegeOf(pod).mounts) return insideNetwork(engine, ref, state);
      // With the uid, it is refused when another pod has taken the name.
      const body = { metadata: { uid: pod.metadata?.uid ?? "", labels: { [LABELS.network]: state } } };
      await pods.patch(name, body);
    },
    destroy: (ref) => places.remove(ref.id),
    async list() {
      const { namespace } = cluster;
      const labelSelector = selector(installation, "sandbox");
      const { items } = await cluster.core("list sandboxes", (api) =>
        api.listNamespacedPod({ namespace, labelSelector }),
      );
      return items.flatMap((pod) => listed(pod, reference));
    },
  };
  return engine;
}

/** The pod that the sandbox would get. */
async function podFor(parts: EngineParts, spec: SandboxSpec): Promise<V1Pod> {
  const [privilege, mounts, program, parent] = await Promise.all([
    parts.privilege(spec),
    parts.mounts(spec),
    parts.program(),
    parts.parent(spec.owner.sweep),
  ]);
  return podManifest(podName(parts.installation, spec.id), spec, {
    installation: parts.installation,
    privilege,
    program,
    template: parts.template,
    headroom: parts.headroom,
    mounts,
    waitSeconds: WAIT_FOR_BEGIN_SECONDS,
    parent,
  });
}

function listed(
  { metadata }: V1Pod,
  reference: (id: string) => SandboxRef,
): { sandbox: SandboxRef; owner: SandboxOwner; createdAt: string }[] {
  const id = metadata?.annotations?.[ANNOTATIONS.id];
  const owner = metadata?.annotations?.[ANNOTATIONS.owner];
  if (id === undefined || owner === undefined || metadata?.deletionTimestamp) return [];
  const createdAt = new Date(metadata?.creationTimestamp ?? 0).toISOString();
  return [{ sandbox: reference(id), owner: JSON.parse(owner) as SandboxOwner, createdAt }];
}
