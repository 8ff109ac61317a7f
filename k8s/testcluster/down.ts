import { rm } from "node:fs/promises";
import { withLock } from "../../activities/store/lock.ts";
import { runningDaemon, stopProcess } from "../../scripts/stack/process.ts";
import { removeGroup } from "./cgroups.ts";
import { forgetNode, lockOf, notedNode, type RunningNode, runningNode } from "./cluster.ts";
import { COMPONENTS } from "./components.ts";
import { kubeconfigPath, stateFolder } from "./folders.ts";
import { kubectl } from "./kubectl.ts";
import { disconnectNode } from "./network.ts";
import { daemonFolder } from "./node.ts";
import { restoreSysctls } from "./sysctls.ts";

/**
 * Ends all processes, with pods, and takes back what was changed on this machine. The data (objects, images) stays for
 * the next `up` unless `wipe`.
 */
export async function down(options: { wipe: boolean }): Promise<void> {
  const folder = stateFolder();
  await withLock(lockOf(folder), async () => {
    const node = await runningNode(folder);
    if (node !== null && !options.wipe) await endInOrder(node);
    await clear(folder);
    if (options.wipe) await rm(folder, { recursive: true, force: true });
  });
}

/** Pods end before what would see to them, so that the next `up` finds none half alive; the rest by itself. */
async function endInOrder(node: RunningNode): Promise<void> {
  if (!(await kubectl(node, ["get", "--raw", "/readyz", "--request-timeout=10s"])).failed) {
    const makers = "deployments,statefulsets,daemonsets,replicasets,jobs,cronjobs";
    await kubectl(node, ["delete", makers, "--all-namespaces", "--all", "--wait=false"]);
    await kubectl(node, ["delete", "pods", "--all-namespaces", "--all", "--grace-period=1", "--timeout=30s"]);
  }
  for (const component of [...COMPONENTS].reverse()) {
    const identity = await runningDaemon(daemonFolder(node.folder), component);
    if (identity !== null) await stopProcess(identity, 10);
  }
}

/** Kills what is left of a node, however it ended, and undoes its changes to this machine. */
export async function clear(folder: string): Promise<void> {
  const node = await notedNode(folder);
  if (node === null) return;
  await removeGroup(node.group);
  await disconnectNode(node.link);
  await restoreSysctls(folder);
  // Whoever looks for a cluster takes this file for one.
  await rm(kubeconfigPath(folder), { force: true });
  await forgetNode(folder);
}
