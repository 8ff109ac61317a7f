import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { SandboxSpec } from "../../activities/sandbox/driver.ts";
import { type Cluster, connectCluster } from "../../activities/sandbox/kubernetes/client.ts";
import {
  KUBERNETES_DEFAULTS,
  type KubernetesDriver,
  kubernetesDriver,
} from "../../activities/sandbox/kubernetes/driver.ts";
import { baseImage } from "../../k8s/testcluster/base-image.ts";
import { stateFolder as clusterFolder, kubeconfigPath } from "../../k8s/testcluster/folders.ts";
import { type Inside, measureInside } from "./pod-inside.ts";
import { measureQuota, type Quota } from "./pod-quota.ts";
import { measurePodStart, type PodStart } from "./pod-start.ts";
import { undone } from "./undo.ts";

/** What the measures on a cluster share. */
export interface OnCluster {
  kubeconfig: string;
  namespace: string;
  cluster: Cluster;
  driver(warm?: number): KubernetesDriver;
  spec(id?: string): SandboxSpec;
}

/**
 * Pods in a namespace of their own on the cluster of BENCH_TEST_KUBECONFIG (with BENCH_TEST_IMAGE), else on the test
 * cluster; null where none is up.
 */
export async function measureCluster(
  state: string,
  cells: number,
): Promise<(PodStart & Inside & Quota) | null> {
  const own = kubeconfigPath(clusterFolder());
  const kubeconfig = process.env.BENCH_TEST_KUBECONFIG || own;
  if (!existsSync(kubeconfig)) return null;
  const given = process.env.BENCH_TEST_IMAGE;
  const base = given ? { digest: "given", location: given } : await baseImage(resolve(state));
  const namespace = `bench-measure-${randomBytes(4).toString("hex")}`;
  const cluster = connectCluster({ kubeconfig, context: null, namespace });
  const labels = { "pod-security.kubernetes.io/enforce": "privileged" };
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-cluster-"));
  const drivers: KubernetesDriver[] = [];
  const on: OnCluster = {
    ...{ kubeconfig, namespace, cluster },
    driver(warm = 0) {
      const image = base.location;
      const where = { installation: namespace, stateFolder, kubeconfig, namespace };
      const driver = kubernetesDriver({ ...KUBERNETES_DEFAULTS, ...where, headroom: 50, warm, image });
      drivers.push(driver);
      return driver;
    },
    spec: (id = randomBytes(6).toString("hex")) => ({
      id: `measured-${id}`,
      owner: { server: "none", sweep: "measured", run: id, attempt: 1, workflow: `measured/${id}` },
      base,
      limits: { memoryBytes: 2 ** 30, processes: 500, diskBytes: 2 ** 31, cpus: 1, deadlineSeconds: 3_600 },
      network: "on",
      environment: {},
      mounts: [],
    }),
  };
  await cluster.core("create namespace", (api) =>
    api.createNamespace({ body: { metadata: { name: namespace, labels } } }),
  );
  const measure = async () => ({
    ...(await measurePodStart(on)),
    ...(await measureInside(on)),
    ...(await measureQuota(on, cells)),
  });
  return undone(measure, async () => {
    for (const driver of drivers) await driver.close();
    await cluster.core("delete namespace", (api) => api.deleteNamespace({ name: namespace }));
    await cluster.close();
    await rm(stateFolder, { recursive: true, force: true });
  });
}
