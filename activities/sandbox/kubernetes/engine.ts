import type { V1Pod } from "@kubernetes/client-node";
import { KUBERNETES_HOST } from "../../../workflows/policies.ts";
import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import { insideNetwork } from "../contained/driver.ts";
import {
  type CallInput,
  type CallResult,
  type ContainerEngine,
  type FileInput,
  type Provided,
  TransportFault,
} from "../contained/engine.ts";
import { frameFile, parseAnswer } from "../contained/frame.ts";
import { call as callLine, MOUNTS, relayed } from "../contained/layout.ts";
import type { Capabilities, SandboxOwner, SandboxSpec } from "../driver.ts";
import type { Cluster } from "./client.ts";
import { ExecFault, execInPod } from "./exec.ts";
import { limiter } from "./limiter.ts";
import type { MountArchive } from "./mount-archive.ts";
import { ANNOTATIONS, LABELS, podName, selector } from "./names.ts";
import type { NodeStores } from "./node-stores.ts";
import { type Privilege, podManifest } from "./pod-spec.ts";
import type { PodTemplate } from "./pod-template.ts";
import type { Pods } from "./pods.ts";

export interface EngineParts {
  cluster: Cluster;
  pods: Pods;
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

/** Exec sockets at once; each is short. */
const CALLS = 48;
const WAIT_FOR_BEGIN_SECONDS = 900;

/** Pods as the containers of sandboxes: one bare pod each, found by the name that its sandbox's id gives it. */
export function kubernetesEngine(parts: EngineParts): ContainerEngine {
  const { cluster, pods, installation } = parts;
  const calling = limiter(CALLS);
  const nameOf = (ref: SandboxRef) => podName(installation, ref.id);
  const call = (ref: SandboxRef, argv: readonly string[], input: CallInput | null) =>
    calling(() => callInPod(parts, nameOf(ref), argv, input));
  const reference = (id: string): SandboxRef => ({ driver: "kubernetes", id, host: KUBERNETES_HOST });
  const engine: ContainerEngine = {
    name: "kubernetes",
    capabilities: parts.capabilities,
    call,
    async create(spec) {
      const mounts = await parts.mounts(spec);
      const pod = await pods.provide(await podFor(parts, spec));
      const ref = reference(spec.id);
      const ask = (argv: string[], input: CallInput | null = null) => call(ref, argv, input);
      if (privilegeOf(pod).userNamespace || mounts !== null) {
        const inside = await inspect(pod, ask);
        if (mounts !== null) await bringMounts(mounts, inside.mounts, ask);
      }
      return provided(ref, pod, parts.unreachable);
    },
    async network(ref, state) {
      const pod = await pods.running(nameOf(ref));
      if (privilegeOf(pod).mounts) return insideNetwork(engine, ref, state);
      // With the uid, it is refused when another pod has taken the name.
      const body = { metadata: { uid: pod.metadata?.uid ?? "", labels: { [LABELS.network]: state } } };
      await pods.patch(nameOf(ref), body);
    },
    destroy: (ref) => pods.remove(nameOf(ref)),
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
export async function podFor(parts: EngineParts, spec: SandboxSpec): Promise<V1Pod> {
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
    mountBytes: mounts?.size ?? 0,
    waitSeconds: WAIT_FOR_BEGIN_SECONDS,
    parent,
  });
}

async function callInPod(
  parts: EngineParts,
  name: string,
  argv: readonly string[],
  input: CallInput | null,
): Promise<CallResult> {
  const pod = await parts.pods.running(name);
  const file = typeof input === "function" && "sha256" in input ? (input as FileInput) : null;
  const address = file && (await parts.stores.holding(pod, file));
  if (file && address) {
    const result = await execute(parts, name, relayed(address, file.sha256, argv), null);
    // What the call itself says no to, it would say no to again.
    if (parseAnswer(result).status !== "failed") return result;
    parts.stores.unreachable(pod);
  }
  return execute(parts, name, argv, typeof input === "function" ? input() : input);
}

async function execute(
  { cluster, pods }: EngineParts,
  name: string,
  argv: readonly string[],
  input: Uint8Array | AsyncIterable<Uint8Array> | null,
): Promise<CallResult> {
  try {
    return await execInPod(cluster, name, argv, input);
  } catch (error) {
    if (!(error instanceof ExecFault)) throw error;
    if (error.status === 403) {
      throw new CausedError("credentials", `exec into pod ${name}: ${error.message}`, { cause: error });
    }
    // The server knows why, where the connection does not; it is waited for if it is away.
    await pods.present(name);
    throw new TransportFault(`exec into pod ${name}: ${error.message}`, { cause: error });
  }
}

/** As the pod was made, whoever made it. */
export function privilegeOf(pod: V1Pod): Privilege {
  const noted = pod.metadata?.annotations?.[ANNOTATIONS.privilege];
  if (noted === undefined)
    throw new Error(`pod ${pod.metadata?.name} has no annotation ${ANNOTATIONS.privilege}`);
  return JSON.parse(noted) as Privilege;
}

function provided(sandbox: SandboxRef, pod: V1Pod, unreachable: readonly string[]): Provided {
  const { mounts, userNamespace } = privilegeOf(pod);
  const node = pod.status?.hostIP;
  return {
    sandbox,
    snapshots: mounts ? "layers" : "rebuild",
    ownUsers: userNamespace,
    loopDevices: false,
    network: mounts ? "inside" : "engine",
    unreachable: [...unreachable, ...(node && !node.includes(":") ? [`${node}/32`] : [])],
  };
}

type Ask = (argv: string[], input?: CallInput | null) => Promise<CallResult>;

/** What the pod is from inside: whether root is the node's root, and which mounts it has been brought. */
async function inspect(pod: V1Pod, ask: Ask): Promise<{ mounts: string[] }> {
  const { stdout } = await ask(["sh", "-c", `cat /proc/self/uid_map; ls -A ${MOUNTS}`]);
  const [uidMap = "", ...mounts] = stdout.toString().split("\n");
  // A runtime that knows no user namespaces ignores `hostUsers: false` in silence.
  if (privilegeOf(pod).userNamespace && !mapsRootAway(uidMap)) {
    throw new CausedError(
      "capacity",
      `node ${pod.spec?.nodeName}: a pod with hostUsers: false is not in a user namespace. Remedy: a runtime with user ` +
        "namespaces (containerd 2, runc 1.2), or kubernetes.userNamespaces: off",
    );
  }
  return { mounts };
}

export function mapsRootAway(uidMap: string): boolean {
  const [inside, outside] = uidMap.trim().split(/\s+/).map(Number);
  return inside === 0 && outside !== undefined && outside > 0;
}

/** Before it begins. Each appears whole, and the last one last: a call whose answer was lost need not be made again. */
async function bringMounts(
  { path, size, sha256, count }: MountArchive,
  there: string[],
  ask: Ask,
): Promise<void> {
  if (Array.from({ length: count }, (_, i) => String(i)).every((name) => there.includes(name))) return;
  const { status, body } = parseAnswer(await ask(callLine("provide"), frameFile(path, size, sha256)));
  if (status !== "ok") throw new CausedError("capacity", `the pod can't take the sandbox's mounts: ${body}`);
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
