import { createHash, randomBytes } from "node:crypto";
import type { V1Pod } from "@kubernetes/client-node";
import { CausedError } from "../../errors.ts";
import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import type { Inside } from "./furnish.ts";
import type { MountArchive } from "./mount-archive.ts";
import { ANNOTATIONS, LABELS, objectName, type Role } from "./names.ts";
import { podState } from "./pod-state.ts";
import type { PodWatch } from "./pod-watch.ts";
import type { Pods } from "./pods.ts";

export interface WarmPoolOptions {
  cluster: Cluster;
  watch: PodWatch;
  /** That wait only shortly for room: a pod made ahead of need must not take the place of a needed one. */
  pods: Pods;
  /** Pods ready of each shape; 0: no pool. */
  size: number;
  /** Brings the pod to where a sandbox can begin in it. */
  furnish(pod: V1Pod, mounts: MountArchive | null): Promise<Inside>;
}

/** Pods made ahead of need: `sandbox-init` waits in them, with the mounts in place. */
export interface WarmPool {
  /** Makes a waiting pod of that shape the wanted one, labels and all; null when there is none. */
  claim(wanted: V1Pod): Promise<V1Pod | null>;
  /** Brings the number of waiting pods of that shape up to the size, in the background. */
  refill(wanted: V1Pod, mounts: MountArchive | null): void;
  /** Gives one waiting pod up, so that a needed one finds room. */
  giveUp(): Promise<void>;
}

const WARM: Role = "warm";

export function warmPool(options: WarmPoolOptions): WarmPool {
  const { watch, pods, size } = options;
  const filling = new Set<string>();
  const waiting = () => watch.all().filter(({ metadata }) => metadata?.labels?.[LABELS.role] === WARM);
  const ofShape = (shape: string) =>
    waiting().filter(({ metadata }) => metadata?.labels?.[LABELS.shape] === shape);
  const fill = async (wanted: V1Pod, mounts: MountArchive | null, shape: string) => {
    for (const pod of ofShape(shape)) {
      if (podState(pod).kind === "lost") await pods.remove(pod.metadata?.name ?? "");
    }
    while (ofShape(shape).filter((pod) => podState(pod).kind !== "lost").length < size) {
      if (!(await makeWaiting(options, wanted, mounts, shape))) return;
    }
  };
  return {
    async claim(wanted) {
      if (size === 0) return null;
      const ready = ofShape(shapeOf(wanted)).filter(
        (pod) =>
          podState(pod).kind === "running" && pod.metadata?.annotations?.[ANNOTATIONS.inside] !== undefined,
      );
      for (const pod of ready) {
        const claimed = await take(pods, pod, wanted);
        if (claimed !== null) return claimed;
      }
      return null;
    },
    refill(wanted, mounts) {
      const shape = shapeOf(wanted);
      if (size === 0 || filling.has(shape)) return;
      filling.add(shape);
      fill(wanted, mounts, shape)
        .catch((error: Error) => process.emitWarning(`pods made ahead of need: ${error.message}`))
        .finally(() => filling.delete(shape));
    },
    async giveUp() {
      const [pod] = size === 0 ? [] : waiting();
      if (pod !== undefined) await remove(options.cluster, pod);
    },
  };
}

/** What makes two pods alike: all but whose they are. */
function shapeOf({ metadata, spec }: V1Pod): string {
  const { activeDeadlineSeconds: _, ...shape } = spec ?? { containers: [] };
  const { [ANNOTATIONS.privilege]: privilege, [ANNOTATIONS.mounts]: mounts } = metadata?.annotations ?? {};
  const parts = [shape, privilege, mounts, metadata?.labels?.[LABELS.sweep]];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** Null when another sandbox took it first: the pod must be as it was seen. */
async function take(pods: Pods, waiting: V1Pod, wanted: V1Pod): Promise<V1Pod | null> {
  const { name = "", uid = "", resourceVersion = "" } = waiting.metadata ?? {};
  const lived = Math.ceil((Date.now() - Date.parse(String(waiting.status?.startTime))) / 1_000);
  const activeDeadlineSeconds = lived + (wanted.spec?.activeDeadlineSeconds ?? 0);
  const { labels, annotations } = wanted.metadata ?? {};
  try {
    return await pods.patch(name, {
      metadata: { uid, resourceVersion, ...(labels && { labels }), ...(annotations && { annotations }) },
      spec: { activeDeadlineSeconds } as V1Pod["spec"] & object,
    });
  } catch (error) {
    if (isFault(error, "conflict", "gone")) return null;
    throw error;
  }
}

/** False when there is no room for it. */
async function makeWaiting(
  { pods, furnish }: WarmPoolOptions,
  wanted: V1Pod,
  mounts: MountArchive | null,
  shape: string,
): Promise<boolean> {
  const { labels, annotations, ownerReferences } = wanted.metadata ?? {};
  const { activeDeadlineSeconds: _, ...spec } = wanted.spec ?? { containers: [] };
  const name = objectName("warm", randomBytes(12).toString("hex"));
  try {
    const pod = await pods.provide({
      ...wanted,
      metadata: {
        name,
        labels: { ...labels, [LABELS.role]: WARM, [LABELS.shape]: shape, [LABELS.sandbox]: "none" },
        annotations: { ...annotations, [ANNOTATIONS.id]: name },
        ...(ownerReferences && { ownerReferences }),
      },
      spec,
    });
    const inside = await furnish(pod, mounts);
    await pods.patch(name, { metadata: { annotations: { [ANNOTATIONS.inside]: JSON.stringify(inside) } } });
    return true;
  } catch (error) {
    await pods.remove(name);
    if (error instanceof CausedError) return false;
    throw error;
  }
}

/** Only as it was seen: it may have been claimed meanwhile. */
async function remove({ core, namespace }: Cluster, { metadata }: V1Pod): Promise<void> {
  const { name = "", uid = "", resourceVersion = "" } = metadata ?? {};
  const body = { gracePeriodSeconds: 1, preconditions: { uid, resourceVersion } };
  try {
    await core(`delete pod ${name}`, (api) => api.deleteNamespacedPod({ namespace, name, body }));
  } catch (error) {
    if (!isFault(error, "gone", "conflict")) throw error;
  }
}
