import type { V1Pod } from "@kubernetes/client-node";
import type { Cluster } from "./client.ts";
import { lossOf, whyNot } from "./events.ts";
import { readPod } from "./pod-calls.ts";
import { lostPod, NoRoom } from "./pod-errors.ts";
import { podState } from "./pod-state.ts";
import type { PodWatch } from "./pod-watch.ts";

export interface PodsOptions {
  installation: string;
  /** How long a pod may wait for room in the cluster or in the namespace's quota. */
  capacitySeconds: number;
  /** Called now and then with what a pod waits for. */
  onWait: (message: string) => void;
  /** Called with each of these waits for room. */
  makeRoom: () => Promise<void>;
}

/** The watch tells of changes at once; asking again is the net below it. */
export const ASK_AGAIN_MS = 10_000;
/** From its node's assignment to a running container, image pull included. */
const START_MS = 600_000;
const GONE_MS = 120_000;

export async function waitUntilRunning(
  cluster: Cluster,
  watch: PodWatch,
  made: V1Pod,
  { capacitySeconds, onWait, makeRoom }: PodsOptions,
  signal?: AbortSignal,
): Promise<V1Pod> {
  const name = made.metadata?.name ?? "";
  const uid = made.metadata?.uid;
  const begun = Date.now();
  let scheduled: number | null = null;
  for (let pod: V1Pod | null = made; ; pod = await later(cluster, watch, pod)) {
    signal?.throwIfAborted();
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
      if (state.kind === "pending") await makeRoom();
    }
  }
}

/** The pod after its next change; null when it is gone. */
async function later(cluster: Cluster, watch: PodWatch, { metadata }: V1Pod): Promise<V1Pod | null> {
  const name = metadata?.name ?? "";
  const ahead = watch.seen(name);
  // It changed while something else was awaited: that change does not come again.
  const newer = Number(ahead?.pod.metadata?.resourceVersion) > Number(metadata?.resourceVersion);
  if (!newer) await watch.change(name, jittered(ASK_AGAIN_MS));
  const seen = watch.seen(name);
  if (seen !== undefined && (newer || seen !== ahead)) return seen.gone ? null : seen.pod;
  return readPod(cluster, name);
}

/** A pod on a dead node stays until its node is back or removed; it is the server's to delete by then. */
export async function untilGone(cluster: Cluster, watch: PodWatch, { metadata }: V1Pod): Promise<void> {
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

export function jittered(milliseconds: number): number {
  return milliseconds * (0.5 + Math.random());
}
