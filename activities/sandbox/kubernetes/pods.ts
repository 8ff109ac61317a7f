import { PatchStrategy, setHeaderOptions, type V1Pod } from "@kubernetes/client-node";
import { CausedError } from "../../errors.ts";
import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import { lossOf, whyNot } from "./events.ts";
import { limiter } from "./limiter.ts";
import { ANNOTATIONS, LABELS, labelValue } from "./names.ts";
import { type Lost, podState } from "./pod-state.ts";
import type { PodWatch } from "./pod-watch.ts";

export interface PodsOptions {
  installation: string;
  /** How long a pod may wait for room in the cluster or in the namespace's quota. */
  capacitySeconds: number;
  /** Told what a pod waits for, now and then. */
  onWait: (message: string) => void;
}

/** The pods of one installation in one namespace. */
export interface Pods {
  /** Gets or makes the pod and waits until its container runs. Throws CausedError. */
  provide(manifest: V1Pod): Promise<V1Pod>;
  /** The pod if it runs; throws CausedError with the cause of its end if it does not. */
  running(name: string): Promise<V1Pod>;
  /** Asks the server, not the watch: returns if the pod is there and has not ended, throws its cause otherwise. */
  present(name: string): Promise<void>;
  /** Merges into the pod, if it still is the one whose uid the patch names. */
  patch(name: string, patch: V1Pod): Promise<V1Pod>;
  /** Deletes it if it is ours and waits until it is gone. */
  remove(name: string): Promise<void>;
}

/** The cluster had no room for the pod for as long as it may wait: nothing is wrong with the pod. */
export class NoRoom extends CausedError {
  constructor(message: string) {
    super("capacity", message);
  }
}

const CREATES = 12;
const DELETES = 12;
/** The watch tells of changes at once; asking again is the net below it. */
const ASK_AGAIN_MS = 10_000;
/** From its node's assignment to a running container, image pull included. */
const START_MS = 600_000;
const GONE_MS = 120_000;

export function podsOf(cluster: Cluster, watch: PodWatch, options: PodsOptions): Pods {
  const creating = limiter(CREATES);
  const deleting = limiter(DELETES);
  const known = new Map<string, string>();
  const mustLive = (name: string, pod: V1Pod) => {
    const uid = pod.metadata?.uid ?? "";
    const before = known.get(name) ?? uid;
    known.set(name, uid);
    if (before !== uid)
      throw lostPod(name, { cause: "sandbox_lost", why: "its pod was replaced by another" });
    const state = podState(pod);
    if (state.kind === "lost") throw lostPod(name, state);
    return state;
  };
  const pods: Pods = {
    async provide(manifest) {
      const name = manifest.metadata?.name ?? "";
      const made = await creating(() => getOrCreate(cluster, watch, manifest, options));
      known.set(name, made.metadata?.uid ?? "");
      return waitUntilRunning(cluster, watch, made, options);
    },
    async running(name) {
      const seen = watch.seen(name);
      const pod = seen?.gone === false ? seen.pod : await readPod(cluster, name);
      if (pod === null) throw lostPod(name, seen ? lastState(seen.pod) : await lossOf(cluster, name));
      const state = mustLive(name, pod);
      return state.kind === "running" ? pod : waitUntilRunning(cluster, watch, pod, options);
    },
    async present(name) {
      const seen = watch.seen(name);
      const pod = await readPod(cluster, name);
      if (pod === null) throw lostPod(name, seen ? lastState(seen.pod) : await lossOf(cluster, name));
      mustLive(name, pod);
    },
    patch: (name, patch) => patchPod(cluster, name, patch),
    async remove(name) {
      await deleting(() => removePod(cluster, watch, name, options.installation));
      known.delete(name);
    },
  };
  return pods;
}

/** The library sends no content type of its own choice that a patch is understood by. */
async function patchPod(cluster: Cluster, name: string, body: V1Pod): Promise<V1Pod> {
  const { namespace } = cluster;
  const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  return cluster.core(`patch pod ${name}`, (api) => api.patchNamespacedPod({ namespace, name, body }, merge));
}

async function readPod(cluster: Cluster, name: string): Promise<V1Pod | null> {
  const { namespace } = cluster;
  try {
    return await cluster.core(`read pod ${name}`, (api) => api.readNamespacedPod({ namespace, name }));
  } catch (error) {
    if (isFault(error, "gone")) return null;
    throw error;
  }
}

/** A full quota is full capacity: it is waited out like a pending pod. */
async function getOrCreate(
  cluster: Cluster,
  watch: PodWatch,
  manifest: V1Pod,
  { installation, capacitySeconds, onWait }: PodsOptions,
): Promise<V1Pod> {
  const { namespace } = cluster;
  const name = manifest.metadata?.name ?? "";
  for (const end = Date.now() + capacitySeconds * 1_000; ; ) {
    try {
      return await cluster.core(`create pod ${name}`, (api) =>
        api.createNamespacedPod({ namespace, body: manifest, fieldValidation: "Strict" }),
      );
    } catch (error) {
      if (isFault(error, "conflict")) {
        const there = await adopt(cluster, watch, manifest, installation);
        if (there !== null) return there;
        continue;
      }
      if (!isFault(error, "quota")) throw refused(error, cluster);
      if (Date.now() > end) throw new NoRoom(`no room after ${capacitySeconds} s: ${error.message}`);
      onWait(error.message);
      await watch.change(name, jittered(ASK_AGAIN_MS / 2));
    }
  }
}

/** Null when the name is free again. */
async function adopt(
  cluster: Cluster,
  watch: PodWatch,
  { metadata }: V1Pod,
  installation: string,
): Promise<V1Pod | null> {
  const name = metadata?.name ?? "";
  const there = await readPod(cluster, name);
  if (there === null) return null;
  mustBeOurs(there, installation);
  if (there.metadata?.annotations?.[ANNOTATIONS.id] !== metadata?.annotations?.[ANNOTATIONS.id]) {
    throw new Error(`pod ${name} is another sandbox's`);
  }
  if (!there.metadata?.deletionTimestamp) return there;
  await untilGone(cluster, watch, there);
  return null;
}

/** What is wrong with the pod itself is a matter of the settings, and trying again does not help. */
function refused(error: unknown, { namespace, server }: Cluster): unknown {
  if (!isFault(error, "gone", "forbidden", "invalid")) return error;
  const remedy =
    error.fault === "gone" ? `Remedy: kubectl create namespace ${namespace}` : "Remedy: see docs/clusters.md";
  return new CausedError("capacity", `${server} takes no sandbox: ${error.message}. ${remedy}`, {
    cause: error,
  });
}

async function waitUntilRunning(
  cluster: Cluster,
  watch: PodWatch,
  made: V1Pod,
  { capacitySeconds, onWait }: PodsOptions,
): Promise<V1Pod> {
  const name = made.metadata?.name ?? "";
  const uid = made.metadata?.uid;
  const begun = Date.now();
  let scheduled: number | null = null;
  for (let pod: V1Pod | null = made; ; pod = await later(cluster, watch, name)) {
    if (pod === null || pod.metadata?.uid !== uid) throw lostPod(name, await lossOf(cluster, name));
    const state = podState(pod);
    if (state.kind === "running") return pod;
    if (state.kind === "lost") throw lostPod(name, state);
    if (state.kind === "starting") scheduled ??= Date.now();
    const late =
      scheduled === null ? Date.now() - begun > capacitySeconds * 1_000 : Date.now() - scheduled > START_MS;
    if (pod !== made || late) {
      const why = state.why ?? (await whyNot(cluster, name)) ?? "nothing is said of why";
      if (late) throw new NoRoom(`pod ${name} does not start: ${why}`);
      onWait(`pod ${name} is ${state.kind}: ${why}`);
    }
  }
}

/** The pod after its next change. */
async function later(cluster: Cluster, watch: PodWatch, name: string): Promise<V1Pod | null> {
  const before = watch.seen(name);
  await watch.change(name, jittered(ASK_AGAIN_MS));
  const seen = watch.seen(name);
  if (seen !== undefined && seen !== before) return seen.pod;
  return readPod(cluster, name);
}

async function removePod(
  cluster: Cluster,
  watch: PodWatch,
  name: string,
  installation: string,
): Promise<void> {
  const { namespace } = cluster;
  const pod = await readPod(cluster, name);
  if (pod === null) return;
  mustBeOurs(pod, installation);
  const preconditions = { uid: pod.metadata?.uid ?? "" };
  try {
    // One second: with none, the server forgets the pod while its container still runs.
    const body = { gracePeriodSeconds: 1, preconditions };
    await cluster.core(`delete pod ${name}`, (api) => api.deleteNamespacedPod({ namespace, name, body }));
  } catch (error) {
    // A conflict is another pod of this name: ours is gone.
    if (!isFault(error, "gone", "conflict")) throw error;
    return;
  }
  await untilGone(cluster, watch, pod);
}

/** A pod on a dead node stays until its node is back or removed; it is the server's to delete by then. */
async function untilGone(cluster: Cluster, watch: PodWatch, { metadata }: V1Pod): Promise<void> {
  const name = metadata?.name ?? "";
  for (const end = Date.now() + GONE_MS; Date.now() < end; ) {
    const seen = watch.seen(name);
    if (seen?.gone && seen.pod.metadata?.uid === metadata?.uid) return;
    await watch.change(name, jittered(1_500));
    if (watch.seen(name)?.gone === false) continue;
    const pod = await readPod(cluster, name);
    if (pod === null || pod.metadata?.uid !== metadata?.uid) return;
  }
}

function mustBeOurs({ metadata }: V1Pod, installation: string): void {
  if (metadata?.labels?.[LABELS.installation] === labelValue(installation)) return;
  throw new Error(`pod ${metadata?.name} is not of this installation (${installation}): it is left alone`);
}

function lastState(pod: V1Pod): Pick<Lost, "cause" | "why"> {
  const state = podState(pod);
  return state.kind === "lost" ? state : { cause: "sandbox_lost", why: "its pod was deleted" };
}

function lostPod(name: string, { cause, why }: Pick<Lost, "cause" | "why">): CausedError {
  return new CausedError(cause, `the sandbox in pod ${name} is gone: ${why}`);
}

function jittered(milliseconds: number): number {
  return milliseconds * (0.5 + Math.random());
}
