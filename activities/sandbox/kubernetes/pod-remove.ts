import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import { mustBeOurs, readPod } from "./pod-calls.ts";
import { untilGone } from "./pod-wait.ts";
import type { PodWatch } from "./pod-watch.ts";

/** Deletes the pod if it is the installation's, and waits until it is gone. */
export async function removePod(
  cluster: Cluster,
  watch: PodWatch,
  name: string,
  installation: string,
): Promise<void> {
  const { namespace } = cluster;
  const seen = watch.seen(name);
  const pod = seen?.gone === false ? seen.pod : await readPod(cluster, name);
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
