import { withLock } from "../../activities/store/lock.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { runningDaemon, stopProcess } from "../../scripts/stack/process.ts";
import { lockOf, neededNode, startComponent } from "./cluster.ts";
import { COMPONENTS, type Component } from "./components.ts";
import { stateFolder } from "./folders.ts";
import { cutApi as cut } from "./network.ts";
import { daemonFolder } from "./node.ts";
import { waitReady } from "./up.ts";

const SHORT: Record<string, Component> = { apiserver: "kube-apiserver" };

/** The component of this name, `apiserver` for short; throws UsageError. */
export function parseComponent(name: string): Component {
  const component = SHORT[name] ?? COMPONENTS.find((candidate) => candidate === name);
  if (component) return component;
  throw new UsageError(`unknown component ${name}; known: ${COMPONENTS.join(", ")}`);
}

/** Ends a component (`kill`: as by kill -9), starts it again and returns when it works. Pods go on meanwhile. */
export async function restart(component: Component, options: { kill?: boolean } = {}): Promise<void> {
  const folder = stateFolder();
  await withLock(lockOf(folder), async () => {
    const node = await neededNode(folder);
    const identity = await runningDaemon(daemonFolder(folder), component);
    if (identity !== null) await stopProcess(identity, options.kill ? 0 : 15);
    await startComponent(node, component);
    await waitReady(node, component);
  });
}

/**
 * For `seconds` no packet of this machine's reaches the API server; connections stay open and silent, as behind a broken
 * network. Returns at once; the end needs no process.
 */
export async function cutApi(seconds: number): Promise<void> {
  await cut((await neededNode(stateFolder())).keeper, seconds);
}
