import { mkdir, readdir, readFile, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const MOUNT = "/sys/fs/cgroup";
const PATIENCE_MS = 20_000;

/** Group below which all processes of a cluster are, pods included: what a kill of any of them can't leave. */
export function groupOf(name: string): string {
  return `/setup-bench-${name}`;
}

/** Makes the group; returns the folder whose `cgroup.procs` takes the cluster's own processes. */
export async function createGroup(group: string): Promise<string> {
  for (const root of await hierarchies()) await mkdir(join(root, group), { recursive: true });
  const own = join(await tracking(), group, "daemons");
  await mkdir(own, { recursive: true });
  return own;
}

/** Kills every process of the group and removes it. Throws when a process stays even so. */
export async function removeGroup(group: string): Promise<void> {
  const tree = join(await tracking(), group);
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const pids = await processes(tree);
    if (pids.length === 0) break;
    if (performance.now() > until) throw new Error(`processes ${pids.join(", ")} of ${tree} can't be killed`);
    for (const pid of pids) kill(pid);
    await sleep(50);
  }
  for (const root of await mounts()) await removeTree(join(root, group), until);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function processes(folder: string): Promise<number[]> {
  const folders = await below(folder);
  const texts = await Promise.all(
    folders.map((name) => readFile(join(name, "cgroup.procs"), "utf8").catch(gone)),
  );
  return texts.flatMap((text) => (text ?? "").split("\n").filter(Boolean).map(Number));
}

/** An ended process leaves its group a moment later. */
async function removeTree(folder: string, until: number): Promise<void> {
  for (const name of (await below(folder)).reverse()) {
    for (;;) {
      try {
        await rmdir(name);
        break;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") break;
        if (code !== "EBUSY" || performance.now() > until) throw error;
        await sleep(50);
      }
    }
  }
}

/** The folder and all below it, parents first. */
async function below(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(gone);
  if (entries === null) return [];
  const children = entries.filter((entry) => entry.isDirectory());
  const nested = await Promise.all(children.map((child) => below(join(folder, child.name))));
  return [folder, ...nested.flat()];
}

async function isUnified(): Promise<boolean> {
  return (await stat(join(MOUNT, "cgroup.controllers")).catch(gone)) !== null;
}

/** The unified hierarchy alone, or those of version 1, one per controller, with the unified one beside them. */
async function mounts(): Promise<string[]> {
  if (await isUnified()) return [MOUNT];
  return (await readdir(MOUNT)).map((name) => join(MOUNT, name));
}

/** Those that have controllers. */
async function hierarchies(): Promise<string[]> {
  if (await isUnified()) return [MOUNT];
  const roots = await mounts();
  const isFirstVersion = await Promise.all(
    roots.map(async (root) => (await stat(join(root, "tasks")).catch(gone)) !== null),
  );
  return roots.filter((_, i) => isFirstVersion[i]);
}

async function tracking(): Promise<string> {
  return (await isUnified()) ? MOUNT : join(MOUNT, "pids");
}

function gone(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENODEV" || error.code === "ENOTDIR") return null;
  throw error;
}
