import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { stateFolder as clusterFolder } from "../../k8s/testcluster/folders.ts";
import type { OnCluster } from "./cluster.ts";
import { median, mustRun, timed } from "./timing.ts";

export interface PodStart {
  /** From the wish to the end of a first command: a sandbox's, and a bare pod's by kubectl (apply, wait, exec). */
  first_command_ms: number;
  bare_pod_ms: number;
  first_command_ratio: number;
  /** The same with a pod that waits ready. */
  warm_ms: number;
  warm_ratio: number;
}

const ROUNDS = 5;
const WARM = 2;

/** Both kinds take turns, so that a noisy machine is as noisy for each. */
export async function measurePodStart(on: OnCluster): Promise<PodStart> {
  const driver = on.driver();
  // What a sweep does once is not a sandbox's: the probe of what pods may.
  await driver.capabilities();
  const own: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    console.error(`  pod ${round + 1}/${ROUNDS}`);
    const spec = on.spec();
    own.push(await timed(async () => mustRun(driver, await driver.create(spec), "first", "true")));
    await driver.destroy({ driver: "kubernetes", id: spec.id, host: "" });
    bare.push(await barePod(on, `bare-${round}`, spec.base.location));
  }
  const warm = await warmStarts(on);
  const [first_command_ms, bare_pod_ms, warm_ms] = [median(own), median(bare), median(warm)];
  return {
    ...{ first_command_ms, bare_pod_ms, first_command_ratio: first_command_ms / bare_pod_ms },
    ...{ warm_ms, warm_ratio: warm_ms / bare_pod_ms },
  };
}

async function barePod(on: OnCluster, name: string, image: string): Promise<number> {
  const container = { name: "bare", image, imagePullPolicy: "IfNotPresent", command: ["sleep", "3600"] };
  const spec = { restartPolicy: "Never", terminationGracePeriodSeconds: 0, containers: [container] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  const milliseconds = await timed(async () => {
    await kubectl(on, ["apply", "-f", "-"], JSON.stringify(pod));
    await kubectl(on, ["wait", "--for=condition=Ready", "--timeout=300s", `pod/${name}`]);
    await kubectl(on, ["exec", name, "--", "true"]);
  });
  await kubectl(on, ["delete", "pod", name, "--wait=true"]);
  return milliseconds;
}

/** The test cluster brings its own kubectl; another cluster's user has one. */
async function kubectl({ kubeconfig, namespace }: OnCluster, args: string[], input = ""): Promise<void> {
  const flags = ["--kubeconfig", kubeconfig, "--namespace", namespace];
  const main = new URL("../../k8s/testcluster/main.ts", import.meta.url).pathname;
  const [file, first] = kubeconfig.startsWith(clusterFolder())
    ? [process.execPath, [main, "kubectl"]]
    : ["kubectl", []];
  await execa(file, [...first, ...flags, ...args], { input });
}

async function warmStarts(on: OnCluster): Promise<number[]> {
  const driver = on.driver(WARM);
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    console.error(`  warm ${round}/${ROUNDS}`);
    if (round > 0) await poolIsReady(on);
    const spec = on.spec();
    const milliseconds = await timed(async () => mustRun(driver, await driver.create(spec), "first", "true"));
    // The first one finds no pool: it is what makes it.
    if (round > 0) times.push(milliseconds);
    await driver.destroy({ driver: "kubernetes", id: spec.id, host: "" });
  }
  await driver.release("measured");
  return times;
}

const POOL_SECONDS = 120;

async function poolIsReady({ cluster, namespace }: OnCluster): Promise<void> {
  for (let second = 0; second < POOL_SECONDS * 4; second++) {
    const { items } = await cluster.core("list pods", (api) =>
      api.listNamespacedPod({ namespace, labelSelector: "setup-bench/role=warm" }),
    );
    const ready = items.filter(
      ({ metadata }) => !metadata?.deletionTimestamp && metadata?.annotations?.["setup-bench/inside"],
    );
    if (ready.length >= WARM) return;
    await sleep(250);
  }
  throw new Error(`no ${WARM} pods wait ready after ${POOL_SECONDS} s`);
}
