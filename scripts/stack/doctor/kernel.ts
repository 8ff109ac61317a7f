import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { canMountVolumes, localCapabilities } from "../../../activities/sandbox/local/capabilities.ts";
import { idMap } from "../../../activities/sandbox/local/id-map.ts";
import { type Check, lacking, type Machine, ok, probe, which, wrong } from "./check.ts";

/** What local sandboxes ask of the kernel and of this user. */
export function kernelChecks(machine: Machine): Promise<Check>[] {
  return [system(), userNamespaces(machine), overlay(machine), ids(machine), volumes(machine), limits()];
}

async function system(): Promise<Check> {
  if (process.platform === "linux") return ok("Linux", release());
  return wrong("Linux", "missing", process.platform, "pnpm bench --driver docker …");
}

/** Not only whether they are built in: distributions forbid them by several switches. */
async function userNamespaces(machine: Machine): Promise<Check> {
  const args = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--net", "true"];
  const tried = await probe("unshare", args, { environment: machine.environment });
  if (tried.works) return ok("user namespaces", "work");
  const switches: [string, (value: string) => boolean, string][] = [
    ["kernel/unprivileged_userns_clone", (value) => value === "0", "kernel.unprivileged_userns_clone=1"],
    [
      "kernel/apparmor_restrict_unprivileged_userns",
      (value) => value === "1",
      "kernel.apparmor_restrict_unprivileged_userns=0",
    ],
    ["user/max_user_namespaces", (value) => value === "0", "user.max_user_namespaces=100000"],
  ];
  for (const [file, isShut, setting] of switches) {
    const value = await sysctl(file);
    if (value !== null && isShut(value)) {
      return wrong(
        "user namespaces",
        "missing",
        `forbidden by ${file.replace("/", ".")}=${value}`,
        `sysctl -w ${setting}`,
      );
    }
  }
  return wrong("user namespaces", "missing", tried.said, "pnpm bench --driver docker …");
}

/** Mounts one in namespaces of its own, the way sandboxes do; nothing of it is left. */
async function overlay(machine: Machine): Promise<Check> {
  const script =
    "mount -t tmpfs tmpfs /mnt && cd /mnt && mkdir lower upper work merged && " +
    "mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr overlay merged";
  const args = ["--user", "--map-root-user", "--mount", "sh", "-c", script];
  const tried = await probe("unshare", args, { environment: machine.environment });
  if (tried.works) return ok("overlay mounts", "work in user namespaces");
  return wrong(
    "overlay mounts",
    "missing",
    tried.said,
    machine.root ? "modprobe overlay" : "sudo modprobe overlay",
  );
}

async function ids(machine: Machine): Promise<Check> {
  if (machine.root) return ok("sandbox ids", "root");
  if ((await which("newuidmap", machine.environment)) === null) {
    return lacking("sandbox ids", "no newuidmap", ["uidmap"]);
  }
  try {
    const { user } = idMap();
    return ok("sandbox ids", `subordinate ids from ${user}`);
  } catch (error) {
    const [found = "", remedy] = (error as Error).message.split(". Remedy: ");
    return wrong("sandbox ids", "missing", found, remedy ? `sudo ${remedy.split(", or ")[0]}` : null);
  }
}

async function volumes(machine: Machine): Promise<Check> {
  const name = "disk limit";
  if (!machine.root) return wrong(name, "warning", "not enforced without root", null);
  if ((await which("mkfs.ext4", machine.environment)) === null) {
    return lacking(name, "no mkfs.ext4", ["e2fsprogs"]);
  }
  if (await canMountVolumes(idMap())) return ok(name, "enforced by a loop device");
  return wrong(name, "warning", "no loop devices, so not enforced", "modprobe loop");
}

async function limits(): Promise<Check> {
  const name = "memory limit";
  const { memory } = (await localCapabilities({ root: false, user: 0, group: 0 })).limits;
  if (memory === "kernel") return ok(name, "enforced by control groups");
  return wrong(name, "warning", "no writable control groups, so not enforced", null);
}

async function sysctl(file: string): Promise<string | null> {
  try {
    return (await readFile(`/proc/sys/${file}`, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
