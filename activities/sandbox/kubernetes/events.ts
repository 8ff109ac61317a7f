import type { CoreV1Event } from "@kubernetes/client-node";
import type { Cause } from "../../../results/causes.ts";
import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import { evictedFor } from "./pod-state.ts";

/** Events that say why a pod has ended. */
const ENDINGS: readonly [RegExp, (message: string) => Cause][] = [
  [/^Preempted$/, () => "sandbox_preempted"],
  [/^Evicted$/, evictedFor],
  [/^(NodeNotReady|TaintManagerEviction|NodeShutdown|TerminatedByNode)/, () => "node_lost"],
  [/^OOMKilling$/, () => "sandbox_oom"],
];

/** What is said of a pod that is gone when nothing tells more. */
export const DELETED = { cause: "sandbox_lost", why: "its pod was deleted" } as const;

/** The newest warning about a pod that does not start, as `reason: message`; null when there is none. */
export async function whyNot(cluster: Cluster, pod: string): Promise<string | null> {
  const warnings = (await eventsOf(cluster, pod)).filter(({ type }) => type === "Warning");
  const newest = warnings.at(-1);
  return newest ? `${newest.reason}: ${newest.message}` : null;
}

/** Why a pod has ended, from what its events tell; null when they tell nothing. `uid`: of that pod of the name only. */
export async function endingOf(
  cluster: Cluster,
  pod: string,
  uid?: string,
): Promise<{ cause: Cause; why: string } | null> {
  for (const { reason, message, involvedObject } of (await eventsOf(cluster, pod)).reverse()) {
    if (uid !== undefined && involvedObject.uid !== uid) continue;
    const cause = ENDINGS.find(([pattern]) => pattern.test(reason ?? ""))?.[1](message ?? "");
    if (cause !== undefined) return { cause, why: `${reason}: ${message}` };
  }
  return null;
}

/** The same of a pod that is not there any more. */
export async function lossOf(cluster: Cluster, pod: string): Promise<{ cause: Cause; why: string }> {
  return (await endingOf(cluster, pod)) ?? DELETED;
}

/** Oldest first. Events only explain: without the right to read them there are none. */
async function eventsOf({ core, namespace }: Cluster, pod: string): Promise<CoreV1Event[]> {
  try {
    const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${pod}`;
    const { items } = await core("list events", (api) =>
      api.listNamespacedEvent({ namespace, fieldSelector }),
    );
    const time = ({ lastTimestamp, eventTime }: CoreV1Event) => (lastTimestamp ?? eventTime)?.valueOf() ?? 0;
    return items.sort((a, b) => Number(time(a)) - Number(time(b)));
  } catch (error) {
    if (isFault(error, "forbidden")) return [];
    throw error;
  }
}
