import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Capabilities } from "../driver.ts";
import type { IdMap } from "./id-map.ts";

/** Disk limits need a loop device, which only root can set up. */
export async function canMountVolumes(map: IdMap): Promise<boolean> {
  return map.root && (await may("/dev/loop-control", constants.R_OK | constants.W_OK));
}

/** As the kernel and the user's rights are; see init/cgroup.c for the groups and init/userns.c for the process limit. */
export async function localCapabilities(map: IdMap): Promise<Capabilities> {
  const groups =
    (await may("/sys/fs/cgroup/memory", constants.W_OK)) ||
    ((await may("/sys/fs/cgroup/cgroup.controllers", constants.R_OK)) &&
      (await may("/sys/fs/cgroup", constants.W_OK)));
  return {
    snapshots: "layers",
    networkSwitch: true,
    // Forbidden inside: they have been a way out of sandboxes time and again.
    userNamespaces: false,
    limits: {
      memory: groups ? "kernel" : "none",
      processes: "kernel",
      disk: (await canMountVolumes(map)) ? "kernel" : "none",
    },
  };
}

async function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
