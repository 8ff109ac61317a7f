import { PatchStrategy, setHeaderOptions, type V1Pod } from "@kubernetes/client-node";
import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import { LABELS, labelValue } from "./names.ts";

export async function readPod(cluster: Cluster, name: string): Promise<V1Pod | null> {
  const { namespace } = cluster;
  try {
    return await cluster.core(`read pod ${name}`, (api) => api.readNamespacedPod({ namespace, name }));
  } catch (error) {
    if (isFault(error, "gone")) return null;
    throw error;
  }
}

/** The library sends no content type of its own choice that a patch is understood by. */
export async function patchPod(cluster: Cluster, name: string, body: V1Pod): Promise<V1Pod> {
  const { namespace } = cluster;
  const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  return cluster.core(`patch pod ${name}`, (api) => api.patchNamespacedPod({ namespace, name, body }, merge));
}

export function mustBeOurs({ metadata }: V1Pod, installation: string): void {
  if (metadata?.labels?.[LABELS.installation] === labelValue(installation)) return;
  throw new Error(`pod ${metadata?.name} is not of this installation (${installation}): it is left alone`);
}
