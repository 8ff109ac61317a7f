import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity } from "../../activities/store/process-identity.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { daemonFiles, logTail, runningDaemon } from "../../scripts/stack/process.ts";
import type { Link } from "./addresses.ts";
import type { Binaries } from "./build.ts";
import { type Component, commandOf } from "./components.ts";
import { daemonFolder, enter, KEEPER, startInGroup } from "./node.ts";

/** What the running node was made with; noted in `node.json`, so that every later call goes on with the same. */
export interface Node {
  link: Link;
  /** Its control group. */
  group: string;
  /** The folder that takes the cluster's own processes. */
  processes: string;
  binaries: Binaries;
  /** False while it is being made: what a kill leaves of that is of no use. */
  ready: boolean;
}

/** A node whose namespaces are there. */
export interface RunningNode extends Node {
  folder: string;
  keeper: ProcessIdentity;
}

/** Held while the node starts or stops; beside the folder, which may be removed meanwhile. */
export function lockOf(folder: string): string {
  return `${folder}.lock`;
}

export async function noteNode(folder: string, node: Node): Promise<void> {
  await writeFile(join(folder, "node.json"), `${JSON.stringify(node, null, 2)}\n`);
}

export async function forgetNode(folder: string): Promise<void> {
  await rm(join(folder, "node.json"), { force: true });
}

export async function notedNode(folder: string): Promise<Node | null> {
  try {
    return JSON.parse(await readFile(join(folder, "node.json"), "utf8")) as Node;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The node of this state folder; null when it does not run. */
export async function runningNode(folder: string): Promise<RunningNode | null> {
  const node = await notedNode(folder);
  const keeper = await runningDaemon(daemonFolder(folder), KEEPER);
  return node?.ready && keeper !== null ? { ...node, folder, keeper } : null;
}

/** The same for calls that make no sense without one. */
export async function neededNode(folder: string): Promise<RunningNode> {
  const node = await runningNode(folder);
  if (node === null) throw new UsageError(`no test cluster runs for ${folder}. Remedy: pnpm testcluster up`);
  return node;
}

/** Starts a component that does not run. */
export async function startComponent(node: RunningNode, component: Component): Promise<void> {
  if ((await runningDaemon(daemonFolder(node.folder), component)) !== null) return;
  const command = enter(node.keeper, commandOf(component, node.binaries, node.link));
  // containerd looks for its shim there.
  const path = `${node.binaries.runtime}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  await startInGroup(node.folder, component, node.processes, command, path);
}

/**
 * Waits until `isReady`. Throws when `seconds` have passed or when `component`, which must become ready, has ended; with
 * the last lines of its log.
 */
export async function waitFor(
  node: RunningNode,
  component: Component,
  seconds: number,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const until = performance.now() + seconds * 1000;
  while (!(await isReady())) {
    const ended = (await runningDaemon(daemonFolder(node.folder), component)) === null;
    if (ended || performance.now() > until) {
      const { log } = daemonFiles(daemonFolder(node.folder), component);
      const what = ended ? "ended" : `was not ready after ${seconds} s`;
      throw new Error(`${component} ${what}; the end of ${log}:\n${await logTail(log)}`);
    }
    await sleep(100);
  }
}
