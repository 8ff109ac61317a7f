import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import type { Cause } from "../../../results/causes.ts";
import { EXIT_DISK } from "../contained/layout.ts";
import { CONTAINER } from "./names.ts";

/** What a pod's status means for the sandbox in it. */
export type PodState =
  /** Not scheduled: the cluster has no room. `why`: the scheduler's words, null while it has said nothing. */
  | { kind: "pending"; why: string | null }
  /** On a node, its container not yet running. */
  | { kind: "starting"; why: string | null }
  | { kind: "running"; nodeReady: boolean }
  | Lost;

export interface Lost {
  kind: "lost";
  cause: Cause;
  why: string;
  /** The container has ended, and the kubelet has not yet said of the pod why. */
  early?: boolean;
}

/** The kubelet goes on trying by itself after a single failed pull; these it has given up, or backs off from. */
const NO_IMAGE = ["ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"];
/** Reasons of a pod that a node refused to take after it had been scheduled there. */
const NOT_ADMITTED =
  /^(OutOf\w+|NodeAffinity|NodePorts|UnexpectedAdmissionError|TopologyAffinityError|TaintToleration)$/;

export function podState(pod: V1Pod): PodState {
  const { status } = pod;
  const container = status?.containerStatuses?.find(({ name }) => name === CONTAINER);
  const ended = endOf(pod, container);
  if (ended !== null) return ended;
  if (status?.phase === "Running" && container?.state?.running) {
    if (container.restartCount > 0) return lost("sandbox_lost", "its container was restarted");
    const ready = status.conditions?.find(({ type }) => type === "Ready");
    return { kind: "running", nodeReady: ready?.reason !== "NodeNotReady" };
  }
  return beginningOf(pod, container);
}

/** Null for a pod that has not ended. */
function endOf({ metadata, status }: V1Pod, container: V1ContainerStatus | undefined): Lost | null {
  const { phase } = status ?? {};
  const disruption = status?.conditions?.find(
    ({ type, status }) => type === "DisruptionTarget" && status === "True",
  );
  const terminated = container?.state?.terminated ?? container?.lastState?.terminated;
  if (terminated?.exitCode === EXIT_DISK) return lost("sandbox_disk", "it wrote more than its disk limit");
  if (terminated?.reason === "OOMKilled")
    return lost("sandbox_oom", "the kernel ended it for memory (OOMKilled)");
  if (status?.reason === "Evicted") return evicted(status.message ?? "no reason given");
  if (disruption) return disrupted(disruption.reason ?? "", disruption.message ?? "");
  if (status?.reason === "Preempting") return lost("sandbox_preempted", status.message ?? "by the kubelet");
  if (status?.reason === "DeadlineExceeded") return lost("sandbox_lost", "its deadline has passed");
  if (status?.reason === "NodeLost" || phase === "Unknown")
    return lost("node_lost", status?.message ?? "its node is gone");
  if (NOT_ADMITTED.test(status?.reason ?? ""))
    return lost("capacity", `${status?.reason}: ${status?.message ?? ""}`);
  if (/Shutdown|Terminated/.test(status?.reason ?? ""))
    return lost("node_lost", `its node is shut down: ${status?.message ?? ""}`);
  const final = phase === "Failed" || phase === "Succeeded";
  if (final || terminated) {
    const exit = terminated
      ? `exit ${terminated.exitCode}${terminated.message ? `: ${terminated.message.trim()}` : ""}`
      : "";
    const end = lost(
      "sandbox_lost",
      `it has ended (${[status?.reason, status?.message, exit].filter(Boolean).join(", ")})`,
    );
    return final ? end : { ...end, early: true };
  }
  return metadata?.deletionTimestamp ? lost("sandbox_lost", "its pod is being deleted") : null;
}

function beginningOf({ status }: V1Pod, container: V1ContainerStatus | undefined): PodState {
  const waiting = [container, ...(status?.initContainerStatuses ?? [])].find((one) => one?.state?.waiting)
    ?.state?.waiting;
  if (NO_IMAGE.includes(waiting?.reason ?? "")) {
    return lost("image_pull", `${waiting?.reason}: ${waiting?.message ?? "no message"}`);
  }
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "True") {
    const why = [scheduled?.reason, scheduled?.message].filter(Boolean).join(": ");
    return { kind: "pending", why: why || null };
  }
  const why = [waiting?.reason, waiting?.message].filter(Boolean).join(": ");
  return { kind: "starting", why: why || null };
}

function evicted(message: string): Lost {
  return lost(evictedFor(message), message);
}

/** The kubelet evicts both who is over its own limit, who would be so again, and who is in a full node's way. */
export function evictedFor(message: string): Cause {
  if (/exceeds the (total )?limit/i.test(message)) return "sandbox_disk";
  return /ephemeral-storage|inodes|disk/i.test(message) ? "disk_pressure" : "sandbox_evicted";
}

/** The reasons of the condition DisruptionTarget. */
function disrupted(reason: string, message: string): Lost {
  const why = `${reason}: ${message}`;
  if (reason === "PreemptionByScheduler") return lost("sandbox_preempted", why);
  if (reason === "DeletionByTaintManager" || reason === "DeletionByPodGC") return lost("node_lost", why);
  return reason === "TerminationByKubelet" ? evicted(message) : lost("sandbox_evicted", why);
}

function lost(cause: Cause, why: string): Lost {
  return { kind: "lost", cause, why };
}
