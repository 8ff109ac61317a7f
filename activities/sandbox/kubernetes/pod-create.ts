import type { V1Pod } from "@kubernetes/client-node";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { CausedError } from "../../errors.ts";
import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import { ANNOTATIONS } from "./names.ts";
import { mustBeOurs, readPod } from "./pod-calls.ts";
import { NoRoom } from "./pod-errors.ts";
import { ASK_AGAIN_MS, jittered, type PodsOptions, untilGone } from "./pod-wait.ts";
import type { PodWatch } from "./pod-watch.ts";

/** A full quota is full capacity: it is waited out like a pending pod. */
export async function getOrCreatePod(
  cluster: Cluster,
  watch: PodWatch,
  manifest: V1Pod,
  { installation, capacitySeconds, onWait, makeRoom }: PodsOptions,
  signal?: AbortSignal,
): Promise<V1Pod> {
  const { namespace } = cluster;
  const name = manifest.metadata?.name ?? "";
  for (const end = Date.now() + capacitySeconds * 1_000; ; ) {
    signal?.throwIfAborted();
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
      await makeRoom();
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

/** What the server would do with the pod. Throws UsageError when it refuses it. */
export async function checkPod(cluster: Cluster, body: V1Pod): Promise<void> {
  const { namespace } = cluster;
  try {
    const dry = { namespace, body, dryRun: "All", fieldValidation: "Strict" };
    await cluster.core("check the pods of sandboxes", (api) => api.createNamespacedPod(dry));
  } catch (error) {
    // A full quota says nothing against the pod.
    if (isFault(error, "quota", "conflict")) return;
    if (!isFault(error, "gone", "forbidden", "invalid")) throw error;
    throw new UsageError(`${cluster.server}, namespace ${namespace}: ${error.message.replaceAll("\n", " ")}`);
  }
}
