import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../../activities/sandbox/kubernetes/client.ts";
import { execInPod } from "../../../activities/sandbox/kubernetes/exec.ts";
import { cutApi, restart } from "../../../k8s/testcluster/faults.ts";
import type { Cause } from "../../../results/causes.ts";
import { runningDaemon } from "../../../scripts/stack/process.ts";
import { eventually } from "../../sandbox/subject.ts";
import type { Held, Stage } from "./gate.ts";

/** Where a fault is provoked. */
interface Scene {
  cluster: Cluster;
  /** State folder of the sweep. */
  state: string;
  stage: Stage;
  /** All that run a guarded command now. */
  held: readonly Held[];
  /** The one of VICTIM. */
  victim: Held;
}

/** What a fault rightly changes in the victim's record, and in no other. */
interface Consequence {
  attempt: number;
  /** `purpose cause` of each. */
  losses: readonly `${"setup" | "replay"} ${Cause}`[];
  /** Guarded commands that run once more, each in another sandbox. */
  again: number;
}

export interface Fault {
  name: string;
  title: string;
  /** It is provoked once in each of them, while every cell is in the middle of a command. */
  stages: readonly Stage[];
  provoke(scene: Scene): Promise<void>;
  /** Of the command line. */
  options?: readonly string[];
  victim: Consequence;
}

/** The cell whose sandbox it is, where a fault is of one sandbox: its set-up has several commands, and is in the second. */
export const VICTIM = "one--naive";

const ALL: readonly Stage[] = ["setup", "replay", "tests"];
/** The pods go on: nothing is to be seen in any record. */
export const NOTHING: Consequence = { attempt: 1, losses: [], again: 0 };
const CUT_SECONDS = 120;

export const FAULTS: readonly Fault[] = [
  {
    name: "apiserver",
    title: "the API server is restarted",
    stages: ALL,
    provoke: ({ stage }) => restart("kube-apiserver", { kill: stage !== "setup" }),
    victim: NOTHING,
  },
  {
    name: "kubelet",
    title: "the kubelet is restarted",
    stages: ALL,
    provoke: ({ stage }) => restart("kubelet", { kill: stage !== "setup" }),
    victim: NOTHING,
  },
  {
    name: "containerd",
    title: "containerd is restarted",
    stages: ALL,
    provoke: ({ stage }) => restart("containerd", { kill: stage !== "setup" }),
    victim: NOTHING,
  },
  {
    name: "deleted",
    title: "a pod is deleted",
    stages: ALL,
    provoke: deletePod,
    // Only the sandbox is gone: the attempt goes on in another one, in which what had succeeded is done once more.
    victim: {
      attempt: 1,
      losses: ["setup sandbox_lost", "replay sandbox_lost", "replay sandbox_lost"],
      again: 4,
    },
  },
  {
    name: "oom",
    title: "a pod is OOM-killed",
    stages: ["setup"],
    provoke: exhaustMemory,
    // A process of a user namespace may not lower what the kernel thinks of it.
    options: ["--user-namespaces", "off"],
    // What needs that much would need it again: by the table of causes the whole attempt is made once more, no part of it.
    victim: { attempt: 2, losses: [], again: 1 },
  },
  {
    name: "evicted",
    title: "a pod is evicted for its disk",
    stages: ["replay"],
    provoke: fillDisk,
    victim: { attempt: 2, losses: [], again: 2 },
  },
  { name: "cordoned", title: "the node is cordoned", stages: ["setup"], provoke: cordon, victim: NOTHING },
  { name: "worker", title: "the worker is killed", stages: ALL, provoke: killWorker, victim: NOTHING },
  {
    name: "cut",
    title: "the network to the API server is cut for two minutes",
    stages: ["setup", "tests"],
    provoke: cut,
    victim: NOTHING,
  },
];

async function deletePod({ cluster, victim }: Scene): Promise<void> {
  const { namespace } = cluster;
  const one = { namespace, name: victim.pod, gracePeriodSeconds: 1 };
  await cluster.core("delete", (api) => api.deleteNamespacedPod(one));
  await victim.ended;
}

async function exhaustMemory({ cluster, victim }: Scene): Promise<void> {
  // The kernel is told to take PID 1 first.
  const hog =
    "echo 1000 > /proc/1/oom_score_adj; echo 0 > /proc/self/oom_score_adj; for i in $(seq 30); do " +
    "(head -c 100M /dev/zero | tail > /dev/null; sleep 9) & done; wait";
  const exec = execInPod(cluster, victim.pod, ["bash", "-c", hog], null);
  await Promise.race([
    victim.ended,
    exec.then(
      () => victim.ended,
      () => victim.ended,
    ),
  ]);
}

async function fillDisk({ cluster, victim }: Scene): Promise<void> {
  // Beside the sandbox, where PID 1 does not look.
  const fill = ["sh", "-c", "head -c 1200M /dev/zero > /.bench/mounts/fill"];
  await execInPod(cluster, victim.pod, fill, null);
  await victim.ended;
}

/** Set-ups end, and their fresh sandboxes find no node until the node is back. */
async function cordon({ cluster, held, victim }: Scene): Promise<void> {
  const mark = async (unschedulable: boolean) => {
    const node = await cluster.core("read", (api) => api.readNode({ name: victim.node }));
    const body = { ...node, spec: { ...node.spec, unschedulable } };
    await cluster.core("mark", (api) => api.replaceNode({ name: victim.node, body }));
  };
  await mark(true);
  try {
    for (const { release } of held) release();
    const { namespace } = cluster;
    await eventually(async () => {
      const { items } = await cluster.core("list", (api) => api.listNamespacedPod({ namespace }));
      return items.filter(({ status }) => status?.phase === "Pending").length === held.length;
    }, 240);
    await sleep(15_000);
  } finally {
    await mark(false);
  }
}

/** The command line starts another one, which takes the commands over while they still run. */
async function killWorker({ state }: Scene): Promise<void> {
  const worker = () => runningDaemon(join(state, "stack"), "worker");
  const killed = await worker();
  if (killed === null) throw new Error("no worker runs");
  process.kill(killed.pid, "SIGKILL");
  await eventually(async () => {
    const now = await worker();
    return now !== null && now.pid !== killed.pid;
  }, 60);
  // Longer than it takes until the dead one's activities are given to the other.
  await sleep(25_000);
}

/**
 * Some commands end while nothing can be heard of them, the others when all is well again. After set-ups it is cut once
 * more, while the fresh sandboxes are made.
 */
async function cut({ cluster, stage, held, victim }: Scene): Promise<void> {
  await cutApi(CUT_SECONDS);
  const until = Date.now() + CUT_SECONDS * 1_000;
  await sleep(40_000);
  victim.release();
  await sleep(until - Date.now());
  const { namespace } = cluster;
  const pods = () => cluster.core("list", (api) => api.listNamespacedPod({ namespace }));
  const before = new Set((await pods()).items.map(({ metadata }) => metadata?.name));
  for (const { release } of held) release();
  if (stage !== "setup") return;
  await eventually(async () => (await pods()).items.some(({ metadata }) => !before.has(metadata?.name)), 240);
  await cutApi(CUT_SECONDS);
}
