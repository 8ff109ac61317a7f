import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import type { SandboxBase, SandboxSpec } from "../../activities/sandbox/driver.ts";
import { type Cluster, connectCluster } from "../../activities/sandbox/kubernetes/client.ts";
import {
  KUBERNETES_DEFAULTS,
  type KubernetesDriver,
  type KubernetesOptions,
  kubernetesDriver,
} from "../../activities/sandbox/kubernetes/driver.ts";
import { baseImage } from "../../k8s/testcluster/base-image.ts";
import { stateFolder as clusterFolder, kubeconfigPath } from "../../k8s/testcluster/folders.ts";
import { type Overrides, specOf } from "../sandbox/subject.ts";
import { testStateFolder } from "./state.ts";

/** A namespace of a real cluster that is the test file's own. */
export interface TestNamespace {
  kubeconfig: string;
  namespace: string;
  /** With an administrator's rights. */
  cluster: Cluster;
  /** A base that the cluster has as an image. */
  base(): Promise<SandboxBase>;
  driver(options?: Partial<KubernetesOptions>): KubernetesDriver;
  spec(overrides?: Overrides): Promise<SandboxSpec>;
  remove(): Promise<void>;
}

/**
 * A new namespace of the cluster that BENCH_TEST_KUBECONFIG names (with BENCH_TEST_IMAGE as the base), else of the test
 * cluster. Null, said aloud, where there is none; in CI that is a failure.
 */
export async function testNamespace(): Promise<TestNamespace | null> {
  const kubeconfig = process.env.BENCH_TEST_KUBECONFIG || kubeconfigPath(clusterFolder());
  if (!existsSync(kubeconfig)) {
    const message = `no cluster (${kubeconfig} is not there). Remedy: pnpm testcluster up, or set BENCH_TEST_KUBECONFIG`;
    if (process.env.CI) throw new Error(message);
    console.warn(`skipped: ${message}`);
    return null;
  }
  const namespace = `bench-test-${randomBytes(4).toString("hex")}`;
  const cluster = connectCluster({ kubeconfig, context: null, namespace });
  const labels = { "pod-security.kubernetes.io/enforce": "privileged" };
  const body = { metadata: { name: namespace, labels } };
  await cluster.core("create namespace", (api) => api.createNamespace({ body }));
  const stateFolder = await mkdtemp(join(tmpdir(), "kubernetes-driver-"));
  const drivers: KubernetesDriver[] = [];
  return {
    kubeconfig,
    namespace,
    cluster,
    base: () => testImage(kubeconfig),
    driver(options = {}) {
      const driver = kubernetesDriver({
        ...KUBERNETES_DEFAULTS,
        // Tests are many and nodes small: sandboxes may use more than they reserve.
        headroom: 50,
        installation: namespace,
        stateFolder,
        kubeconfig,
        namespace,
        ...options,
      });
      drivers.push(driver);
      return driver;
    },
    spec: async (overrides = {}) => specOf({ base: () => testImage(kubeconfig) }, overrides),
    async remove() {
      for (const driver of drivers) await driver.close();
      await cluster.core("delete namespace", (api) => api.deleteNamespace({ name: namespace }));
      await cluster.close();
      await rm(stateFolder, { recursive: true, force: true });
    },
  };
}

/** Registers tests in a namespace of their own, removed afterwards; one skipped test where there is no cluster. */
export async function onCluster(
  name: string,
  register: (subject: TestNamespace) => void | Promise<void>,
): Promise<void> {
  const subject = await testNamespace();
  if (subject === null) return test.skip(`${name}: there is no cluster`, () => {});
  test.after.always(() => subject.remove());
  await register(subject);
}

let image: Promise<SandboxBase> | undefined;

function testImage(kubeconfig: string): Promise<SandboxBase> {
  image ??= findImage(kubeconfig);
  return image;
}

async function findImage(kubeconfig: string): Promise<SandboxBase> {
  const given = process.env.BENCH_TEST_IMAGE;
  if (given) return { digest: "given", location: given };
  if (kubeconfig !== kubeconfigPath(clusterFolder())) {
    throw new Error("BENCH_TEST_KUBECONFIG needs BENCH_TEST_IMAGE: an image with bash, Python and gcc");
  }
  return baseImage(testStateFolder());
}
