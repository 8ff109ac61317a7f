import type { V1ContainerState, V1Pod, V1PodStatus } from "@kubernetes/client-node";
import test from "ava";
import { podState } from "../../../activities/sandbox/kubernetes/pod-state.ts";

function podWith(status: V1PodStatus, state?: V1ContainerState, deleted = false): V1Pod {
  const container = {
    name: "sandbox",
    image: "i",
    imageID: "",
    ready: true,
    restartCount: 0,
    ...(state ? { state } : {}),
  };
  return {
    metadata: { name: "p", ...(deleted ? { deletionTimestamp: new Date() } : {}) },
    status: { ...status, ...(state ? { containerStatuses: [container] } : {}) },
  };
}

const scheduled = { conditions: [{ type: "PodScheduled", status: "True" }] };
const disrupted = (reason: string, message = "words") => ({
  phase: "Running",
  conditions: [{ type: "DisruptionTarget", status: "True", reason, message }],
});
const running = { running: { startedAt: new Date() } };
const ended = (reason: string, exitCode = 137) => ({ terminated: { reason, exitCode } });

const CASES: [string, V1Pod, object][] = [
  ["a pod that no scheduler has seen waits", podWith({ phase: "Pending" }), { kind: "pending", why: null }],
  [
    "an unschedulable pod waits, with the scheduler's words",
    podWith({
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }],
    }),
    { kind: "pending", why: "Unschedulable: 0/1 nodes" },
  ],
  [
    "a first failed pull is left to the kubelet",
    podWith(scheduled, { waiting: { reason: "ErrImagePull", message: "no route" } }),
    { kind: "starting", why: "ErrImagePull: no route" },
  ],
  [
    "a pull that backs off is the image's fault",
    podWith(scheduled, { waiting: { reason: "ImagePullBackOff", message: "not found" } }),
    { kind: "lost", cause: "image_pull", why: "ImagePullBackOff: not found" },
  ],
  ["a running pod runs", podWith({ phase: "Running" }, running), { kind: "running", nodeReady: true }],
  [
    "a pod on a node that is not ready still runs",
    podWith(
      { phase: "Running", conditions: [{ type: "Ready", status: "False", reason: "NodeNotReady" }] },
      running,
    ),
    { kind: "running", nodeReady: false },
  ],
  [
    "a deleted pod is lost",
    podWith({ phase: "Running" }, running, true),
    { kind: "lost", cause: "sandbox_lost" },
  ],
  [
    "a killed PID 1 is out of memory",
    podWith({ phase: "Failed" }, ended("OOMKilled")),
    { cause: "sandbox_oom" },
  ],
  [
    "an ended PID 1 is lost",
    podWith({ phase: "Failed" }, ended("Error", 3)),
    { cause: "sandbox_lost", why: "it has ended (exit 3)" },
  ],
  [
    "the deadline is a loss",
    podWith({ phase: "Failed", reason: "DeadlineExceeded" }),
    { cause: "sandbox_lost" },
  ],
  [
    "an eviction over the pod's own limit is its disk",
    podWith({
      phase: "Failed",
      reason: "Evicted",
      message: 'Usage of EmptyDir volume "volume" exceeds the limit "20Mi". ',
    }),
    { cause: "sandbox_disk" },
  ],
  [
    "an eviction over the container's limit is its disk",
    podWith({
      phase: "Failed",
      reason: "Evicted",
      message: "Pod ephemeral local storage usage exceeds the total limit of containers 20Mi. ",
    }),
    { cause: "sandbox_disk" },
  ],
  [
    "an eviction from a full node is the node's disk",
    podWith({
      phase: "Failed",
      reason: "Evicted",
      message: "The node was low on resource: ephemeral-storage. Threshold quantity: 1",
    }),
    { cause: "disk_pressure" },
  ],
  [
    "an eviction for the node's memory is an eviction",
    podWith({ phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." }),
    { cause: "sandbox_evicted" },
  ],
  [
    "a preempted pod is preempted",
    podWith(disrupted("PreemptionByScheduler"), running),
    { cause: "sandbox_preempted" },
  ],
  [
    "a drained pod is evicted",
    podWith(disrupted("EvictionByEvictionAPI"), running),
    { cause: "sandbox_evicted" },
  ],
  [
    "a pod of a dead node is the node's loss",
    podWith(disrupted("DeletionByTaintManager"), running),
    { cause: "node_lost" },
  ],
  [
    "a pod whose node is unheard of is the node's loss",
    podWith({ phase: "Unknown" }),
    { cause: "node_lost" },
  ],
  [
    "a pod that its node refuses found no room",
    podWith({ phase: "Failed", reason: "OutOfcpu", message: "m" }),
    { cause: "capacity" },
  ],
];

for (const [title, pod, expected] of CASES) {
  test(title, (t) => {
    t.like(podState(pod), expected);
  });
}

test("a restarted container is a lost sandbox", (t) => {
  const pod = podWith({ phase: "Running" }, running);
  const [container] = pod.status?.containerStatuses ?? [];
  if (container) container.restartCount = 1;
  t.like(podState(pod), { kind: "lost", cause: "sandbox_lost" });
});
