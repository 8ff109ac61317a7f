import { accessSync, constants } from "node:fs";
import type { Capabilities } from "../driver.ts";
import type { IdMap } from "./id-map.ts";

/** Disk limits need a loop device, which only root can set up. */
export function canMountVolumes(map: IdMap): boolean {
  return map.root && may("/dev/loop-control", constants.R_OK | constants.W_OK);
}

/** As the kernel and the user's rights are; see init/cgroup.c for the groups and init/userns.c for the process limit. */
export function localCapabilities(map: IdMap): Capabilities {
  const versionTwo = may("/sys/fs/cgroup/cgroup.controllers", constants.R_OK);
  const groups = may(versionTwo ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory", constants.W_OK);
  return {
    snapshots: "layers",
    networkSwitch: true,
    // Forbidden inside: they have been a way out of sandboxes time and again.
    userNamespaces: false,
    limits: {
      memory: groups ? "kernel" : "none",
      processes: "kernel",
      disk: canMountVolumes(map) ? "kernel" : "none",
    },
  };
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    if (["ENOENT", "EACCES", "EROFS", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return false;
    throw error;
  }
}
