import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity } from "../../activities/store/process-identity.ts";
import { daemonFiles, logTail, runningDaemon, startDaemon } from "../../scripts/stack/process.ts";
import { INSIDE } from "./folders.ts";

/** Name of the process that holds the node's network and mount namespaces. */
export const KEEPER = "node";
const READY_MS = 10_000;

/**
 * The node is a network and a mount namespace of this machine. What the cluster does to routes, packet filters and
 * mounts happens in there, so that it disturbs nothing outside and is gone with its last process.
 *
 * Folders that the components know by a fixed name are its own too, beside those of an engine of this machine's.
 */
const SCRIPT = `set -e
mkdir -p ${INSIDE} /run/containerd /var/lib/cni /var/lib/kubelet /var/log/containers
mount --bind "$1" ${INSIDE}
mount -t tmpfs tmpfs /run/containerd
mkdir -p ${INSIDE}/fixed/cni ${INSIDE}/fixed/kubelet ${INSIDE}/fixed/containers
mount --bind ${INSIDE}/fixed/cni /var/lib/cni
mount --bind ${INSIDE}/fixed/kubelet /var/lib/kubelet
mount --bind ${INSIDE}/fixed/containers /var/log/containers
ip link set lo up
exec sleep infinity`;

/** Where daemons note their identity and write their logs. */
export function daemonFolder(folder: string): string {
  return join(folder, "daemons");
}

/** Makes the namespaces; returns the process that holds them. */
export async function startKeeper(folder: string, group: string): Promise<ProcessIdentity> {
  const unshare = ["unshare", "--net", "--mount", "--propagation", "private"];
  await startInGroup(
    folder,
    KEEPER,
    group,
    [...unshare, "sh", "-c", SCRIPT, "sh", folder],
    "/usr/sbin:/usr/bin:/sbin:/bin",
  );
  const until = performance.now() + READY_MS;
  for (;;) {
    const keeper = await runningDaemon(daemonFolder(folder), KEEPER);
    if (keeper === null || performance.now() > until) {
      const said = await logTail(daemonFiles(daemonFolder(folder), KEEPER).log);
      throw new Error(`the node's namespaces can't be made: ${said}`);
    }
    // Ready when the script has become what it ends with.
    if ((await readFile(`/proc/${keeper.pid}/comm`, "utf8")).trim() === "sleep") return keeper;
    await sleep(20);
  }
}

/** The command line that runs another inside the node. */
export function enter(keeper: ProcessIdentity, command: readonly string[]): string[] {
  return ["nsenter", "--target", `${keeper.pid}`, "--net", "--mount", ...command];
}

/**
 * Starts a daemon in the cluster's group. It must not keep the launcher's lock: what containerd starts outlives it and
 * would hold it on.
 */
export async function startInGroup(
  folder: string,
  name: string,
  group: string,
  command: readonly string[],
  path: string,
): Promise<void> {
  await startDaemon({
    folder: daemonFolder(folder),
    name,
    command: "/bin/sh",
    args: ["-c", 'echo $$ > "$0/cgroup.procs" && exec 9>&- && exec "$@"', group, ...command],
    environment: { PATH: path, HOME: "/root" },
  });
}
