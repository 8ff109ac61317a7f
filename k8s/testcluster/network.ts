import { readFile, writeFile } from "node:fs/promises";
import type { ProcessIdentity } from "../../activities/store/process-identity.ts";
import { API_PORT, hostAddress, type Link, nodeAddress, POD_RANGE, SLOTS } from "./addresses.ts";
import { enter } from "./node.ts";
import { succeeds, tool } from "./tool.ts";

const COMMENT = ["-m", "comment", "--comment", "setup-bench test cluster"];

/** Addresses for a new cable, `name` (at most 15 letters), that no cluster of this machine uses. */
export async function freeLink(name: string): Promise<Link> {
  const used = await tool("ip", ["-4", "-oneline", "address"]);
  for (let slot = 0; slot < SLOTS; slot++) {
    const host = hostAddress(slot);
    if (!used.includes(` ${host}/`)) return { interface: name, host, node: nodeAddress(slot) };
  }
  throw new Error(
    `${SLOTS} test clusters run on this machine. Remedy: pnpm testcluster down in one's checkout`,
  );
}

/** Lays the cable between this machine and a new node and lets the node's packets out. */
export async function connectNode(keeper: ProcessIdentity, link: Link): Promise<void> {
  const mtu = `${await podMtu()}`;
  const outside = await defaultInterface();
  const inside = (...command: string[]) => {
    const [first = "", ...rest] = enter(keeper, command);
    return tool(first, rest);
  };
  await tool("ip", [
    "link",
    "add",
    link.interface,
    "type",
    "veth",
    "peer",
    "name",
    "eth0",
    "netns",
    `${keeper.pid}`,
  ]);
  await inside("ip", "link", "set", "eth0", "mtu", mtu, "up");
  await inside("ip", "address", "add", `${link.node}/30`, "dev", "eth0");
  await tool("ip", ["address", "add", `${link.host}/30`, "dev", link.interface]);
  await tool("ip", ["link", "set", link.interface, "mtu", mtu, "up"]);
  await inside("ip", "route", "add", "default", "via", link.host);
  await inside("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
  await nft(keeper, RULES);
  // The switch of one interface, not of the whole machine.
  for (const name of [link.interface, outside]) await writeFile(forwardingOf(name), "1");
  for (const rule of hostRules(link))
    await tool("iptables", ["-w", "-t", rule.table, "-I", rule.chain, ...rule.rule]);
}

/** Takes back what `connectNode` changed on this machine; the cable ends with the node's namespace. */
export async function disconnectNode(link: Link): Promise<void> {
  for (const { table, chain, rule } of hostRules(link)) {
    const has = () => succeeds("iptables", ["-w", "-t", table, "-C", chain, ...rule]);
    while (await has()) await tool("iptables", ["-w", "-t", table, "-D", chain, ...rule]);
  }
  // It may go with the node's namespace at the same moment.
  await succeeds("ip", ["link", "delete", link.interface]);
  // Where the machine forwards as a whole, as one with a container engine does, it is not ours to stop.
  if ((await readFile("/proc/sys/net/ipv4/ip_forward", "utf8")).trim() === "0")
    await writeFile(forwardingOf(await defaultInterface()), "0");
}

/** For `seconds` nothing that this machine sends to the API server arrives; the kernel itself ends it. */
export async function cutApi(keeper: ProcessIdentity, seconds: number): Promise<void> {
  await nft(keeper, `add element inet api-cut ports { ${API_PORT} timeout ${seconds}s }`);
}

const RULES = `
table ip outside {
  chain postrouting {
    type nat hook postrouting priority srcnat;
    ip saddr ${POD_RANGE} oifname "eth0" masquerade
  }
}
table inet api-cut {
  set ports { type inet_service; flags timeout; }
  chain input {
    type filter hook input priority -100;
    iifname "eth0" tcp dport @ports drop
  }
}`;

async function nft(keeper: ProcessIdentity, rules: string): Promise<void> {
  const [command = "", ...args] = enter(keeper, ["nft", "-f", "-"]);
  await tool(command, args, rules);
}

/** A container engine lets nothing be forwarded but its own. */
function hostRules(link: Link): { table: string; chain: string; rule: string[] }[] {
  return [
    { table: "filter", chain: "FORWARD", rule: ["-i", link.interface, ...COMMENT, "-j", "ACCEPT"] },
    { table: "filter", chain: "FORWARD", rule: ["-o", link.interface, ...COMMENT, "-j", "ACCEPT"] },
    {
      table: "nat",
      chain: "POSTROUTING",
      rule: ["-s", link.node, "!", "-o", link.interface, ...COMMENT, "-j", "MASQUERADE"],
    },
  ];
}

/** No packet of a pod is larger than what the way out takes. */
export async function podMtu(): Promise<number> {
  const mtu = Number(await readFile(`/sys/class/net/${await defaultInterface()}/mtu`, "utf8"));
  return Math.min(mtu, 1500);
}

async function defaultInterface(): Promise<string> {
  const name = /\bdev (\S+)/.exec(await tool("ip", ["-4", "route", "show", "default"]))?.[1];
  // A machine without a way out can still run a cluster.
  return name ?? "lo";
}

function forwardingOf(name: string): string {
  return `/proc/sys/net/ipv4/conf/${name}/forwarding`;
}
