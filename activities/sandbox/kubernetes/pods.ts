import type { V1Pod } from "@kubernetes/client-node";
import type { Cluster } from "./client.ts";
import { DELETED, endingOf, lossOf } from "./events.ts";
import { limiter } from "./limiter.ts";
import { patchPod, readPod } from "./pod-calls.ts";
import { checkPod, getOrCreatePod } from "./pod-create.ts";
import { lostPod } from "./pod-errors.ts";
import { removePod } from "./pod-remove.ts";
import { type Lost, podState } from "./pod-state.ts";
import { type PodsOptions, waitUntilRunning } from "./pod-wait.ts";
import type { PodWatch } from "./pod-watch.ts";

/** The pods of one installation in one namespace. */
export interface Pods {
  /** Gets or makes the pod and waits until its container runs. Throws CausedError. */
  provide(manifest: V1Pod, signal?: AbortSignal): Promise<V1Pod>;
  /** What the server would do with the pod. Throws UsageError when it refuses it. */
  check(manifest: V1Pod): Promise<void>;
  /** The pod if it runs; throws CausedError with the cause of its end if it does not. */
  running(name: string): Promise<V1Pod>;
  /** Asks the server, not the watch: returns if the pod is there and has not ended, throws its cause otherwise. */
  present(name: string): Promise<void>;
  /** Merges into the pod, if it still is the one whose uid the patch names. */
  patch(name: string, patch: V1Pod): Promise<V1Pod>;
  /** Deletes it if it is ours and waits until it is gone. */
  remove(name: string): Promise<void>;
}

const CREATES = 12;
const DELETES = 12;
const LAST_WORD_MS = 45_000;

export function podsOf(cluster: Cluster, watch: PodWatch, options: PodsOptions): Pods {
  const creating = limiter(CREATES);
  const deleting = limiter(DELETES);
  const known = new Map<string, string>();
  const mustLive = async (name: string, pod: V1Pod) => {
    const uid = pod.metadata?.uid ?? "";
    const before = known.get(name) ?? uid;
    known.set(name, uid);
    if (before !== uid)
      throw lostPod(name, { cause: "sandbox_lost", why: "its pod was replaced by another" });
    const state = podState(pod);
    if (state.kind === "lost") throw lostPod(name, await lastWord(cluster, watch, pod, state));
    return state;
  };
  const pods: Pods = {
    async provide(manifest, signal) {
      const name = manifest.metadata?.name ?? "";
      const made = await creating(() => getOrCreatePod(cluster, watch, manifest, options, signal));
      known.set(name, made.metadata?.uid ?? "");
      return waitUntilRunning(cluster, watch, made, options, signal);
    },
    check: (manifest) => checkPod(cluster, manifest),
    async running(name) {
      const seen = watch.seen(name);
      const pod = seen?.gone === false ? seen.pod : await readPod(cluster, name);
      if (pod === null) throw lostPod(name, seen ? lastState(seen.pod) : await lossOf(cluster, name));
      const state = await mustLive(name, pod);
      return state.kind === "running" ? pod : waitUntilRunning(cluster, watch, pod, options);
    },
    async present(name) {
      const seen = watch.seen(name);
      const pod = await readPod(cluster, name);
      if (pod === null) throw lostPod(name, seen ? lastState(seen.pod) : await lossOf(cluster, name));
      await mustLive(name, pod);
    },
    patch: (name, patch) => patchPod(cluster, name, patch),
    async remove(name) {
      await deleting(() => removePod(cluster, watch, name, options.installation));
      known.delete(name);
    },
  };
  return pods;
}

function lastState(pod: V1Pod): Pick<Lost, "cause" | "why"> {
  const state = podState(pod);
  return state.kind === "lost" ? state : DELETED;
}

/**
 * An eviction shows as an ended container first; its reason comes with the pod's end, or, of a container that ended
 * before the kubelet looked again, in an event only (measured, 1.34).
 */
async function lastWord(cluster: Cluster, watch: PodWatch, { metadata }: V1Pod, first: Lost) {
  const { name = "", uid } = metadata ?? {};
  let state = first;
  for (const end = Date.now() + LAST_WORD_MS; state.early && Date.now() < end; ) {
    await watch.change(name, 1_000);
    const pod = await readPod(cluster, name);
    const next = pod && podState(pod);
    if (next?.kind !== "lost") break;
    state = next;
  }
  return (state.cause === "sandbox_lost" && (await endingOf(cluster, name, uid))) || state;
}
