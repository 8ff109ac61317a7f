import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../../activities/store/lock.ts";
import { NODE } from "./addresses.ts";
import { ensureBinaries } from "./build.ts";
import { ensureCertificates } from "./certificates.ts";
import { createGroup, groupOf } from "./cgroups.ts";
import {
  lockOf,
  neededNode,
  noteNode,
  type RunningNode,
  runningNode,
  startComponent,
  waitFor,
} from "./cluster.ts";
import { COMPONENTS, type Component } from "./components.ts";
import { writeConfiguration } from "./configuration.ts";
import { clear } from "./down.ts";
import { cacheFolder, stateFolder } from "./folders.ts";
import { ensurePauseImage, imageNames } from "./images.ts";
import { kubectl } from "./kubectl.ts";
import { connectNode, freeLink, podMtu } from "./network.ts";
import { enter, startKeeper } from "./node.ts";
import { saveSysctls } from "./sysctls.ts";
import { succeeds } from "./tool.ts";

/**
 * The cluster runs and its node is Ready when this returns. Whoever asks at once gets the same one; what runs is kept,
 * what was killed is started again, on the same data.
 */
export async function up(progress: (line: string) => void): Promise<RunningNode> {
  const folder = stateFolder();
  await mkdir(folder, { recursive: true });
  return withLock(
    lockOf(folder),
    async () => {
      const node = (await runningNode(folder)) ?? (await makeNode(folder, progress));
      await startAll(node, progress);
      return node;
    },
    { waiting: (pids) => progress(`process ${pids.join(", ")} starts or stops it; waiting`) },
  );
}

async function makeNode(folder: string, progress: (line: string) => void): Promise<RunningNode> {
  // Of a node whose namespaces are gone nothing can be used but its data.
  await clear(folder);
  const binaries = await ensureBinaries(progress);
  await ensureCertificates(folder);
  await saveSysctls(folder);
  // Of this folder alone, so that clearing up after one cluster never touches another.
  const name = `tc-${createHash("sha256").update(folder).digest("hex").slice(0, 8)}`;
  const group = groupOf(name);
  const processes = await createGroup(group);
  // Two clusters that start at once must not choose the same addresses.
  return withLock(join(cacheFolder(), "locks", "addresses"), async () => {
    const link = await freeLink(name);
    const node = { link, group, processes, binaries, ready: false };
    await noteNode(folder, node);
    const settings = { address: link.node, runtime: binaries.runtime, cgroup: group, mtu: await podMtu() };
    await writeConfiguration(folder, settings);
    await connectNode(await startKeeper(folder, processes), link);
    await noteNode(folder, { ...node, ready: true });
    return neededNode(folder);
  });
}

async function startAll(node: RunningNode, progress: (line: string) => void): Promise<void> {
  for (const component of COMPONENTS) {
    if (component === "kubelet") await beforeKubelet(node);
    await startComponent(node, component);
    if (component === "kube-apiserver") await waitReady(node, component);
  }
  progress("waiting for the node to be ready");
  await waitReady(node, "kubelet");
}

/** What a pod needs that the kubelet would start at once. */
async function beforeKubelet(node: RunningNode): Promise<void> {
  await waitReady(node, "containerd");
  await ensurePauseImage(node);
  await waitReady(node, "network-policies");
}

/** Until the component does its work. */
export async function waitReady(node: RunningNode, component: Component): Promise<void> {
  const checks: Partial<Record<Component, () => Promise<boolean>>> = {
    containerd: () =>
      imageNames(node).then(
        () => true,
        () => false,
      ),
    "kube-apiserver": async () =>
      !(await kubectl(node, ["get", "--raw", "/readyz", "--request-timeout=5s"])).failed,
    "network-policies": async () => {
      const [command = "", ...args] = enter(node.keeper, [
        "nft",
        "list",
        "table",
        "inet",
        "network-policies",
      ]);
      return succeeds(command, args);
    },
    kubelet: async () => {
      const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
      const questions = [
        ["-n", "default", "get", "serviceaccount", "default"],
        // What a killed kubelet last said of the node still stands for a while.
        ["get", "--raw", `/api/v1/nodes/${NODE}/proxy/healthz`, "--request-timeout=5s"],
        ["get", "node", NODE, "-o", path],
      ];
      const answers = await Promise.all(questions.map((question) => kubectl(node, question)));
      return answers.every(({ failed }) => !failed) && answers.at(-1)?.stdout === "True";
    },
  };
  const check = checks[component];
  if (check) await waitFor(node, component, 90, check);
}
