import { runningDaemon } from "../../scripts/stack/process.ts";
import { API_PORT, NODE } from "./addresses.ts";
import { notedNode } from "./cluster.ts";
import { COMPONENTS } from "./components.ts";
import { kubeconfigPath, stateFolder } from "./folders.ts";
import { kubectl } from "./kubectl.ts";
import { daemonFolder, KEEPER } from "./node.ts";

export interface Status {
  /** `running`: all processes; `partial`: some were killed, `up` starts them again. */
  state: "running" | "partial" | "stopped";
  folder: string;
  /** For KUBECONFIG; null when stopped. */
  kubeconfig: string | null;
  server: string | null;
  node: "Ready" | "NotReady" | "unknown";
  /** Process ids by name; null: does not run. */
  processes: Record<string, number | null>;
}

export async function status(): Promise<Status> {
  const folder = stateFolder();
  const noted = await notedNode(folder);
  const names = [KEEPER, ...COMPONENTS];
  const running = await Promise.all(names.map((name) => runningDaemon(daemonFolder(folder), name)));
  const processes = Object.fromEntries(names.map((name, i) => [name, running[i]?.pid ?? null]));
  const alive = running.filter((identity) => identity !== null).length;
  if (noted === null || alive === 0)
    return { state: "stopped", folder, kubeconfig: null, server: null, node: "unknown", processes };
  return {
    state: alive === names.length ? "running" : "partial",
    folder,
    kubeconfig: kubeconfigPath(folder),
    server: `https://${noted.link.node}:${API_PORT}`,
    node: await nodeState({ folder, binaries: noted.binaries }),
    processes,
  };
}

export function renderStatus(status: Status): string {
  const processes = Object.entries(status.processes).map(
    ([name, pid]) => `  ${name.padEnd(24)} ${pid ?? "does not run"}`,
  );
  const lines = [
    `state       ${status.state}`,
    `folder      ${status.folder}`,
    ...(status.kubeconfig ? [`kubeconfig  ${status.kubeconfig}`, `server      ${status.server}`] : []),
    `node        ${status.node}`,
    "processes",
    ...processes,
  ];
  return `${lines.join("\n")}\n`;
}

async function nodeState(reached: Parameters<typeof kubectl>[0]): Promise<Status["node"]> {
  const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
  const asked = await kubectl(reached, ["get", "node", NODE, "-o", path, "--request-timeout=5s"]);
  if (asked.failed) return "unknown";
  return asked.stdout === "True" ? "Ready" : "NotReady";
}
