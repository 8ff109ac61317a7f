import { readFile } from "node:fs/promises";
import type Docker from "dockerode";
import { isStatus } from "./client.ts";
import { LABELS, NETWORK } from "./names.ts";

/**
 * Gets or makes the one network of all sandboxes: an engine has address space for about thirty networks, and one for
 * 65,000 containers. They can't reach each other over it, by the engine's rules and by their own (unreachableFrom).
 */
export async function ensureNetwork(docker: Docker): Promise<void> {
  try {
    await docker.getNetwork(NETWORK).inspect();
    return;
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
  try {
    await docker.createNetwork({
      Name: NETWORK,
      Driver: "bridge",
      CheckDuplicate: true,
      Labels: { [LABELS.role]: "network" },
      Options: {
        "com.docker.network.bridge.enable_icc": "false",
        "com.docker.network.bridge.enable_ip_masquerade": "true",
      },
    });
  } catch (error) {
    // Another worker was first.
    if (!isStatus(error, 409)) throw error;
  }
}

/** What no sandbox may reach: its neighbours, the engine's side of the network, and this machine's own addresses. */
export async function unreachableFrom(docker: Docker, local: boolean): Promise<string[]> {
  const { IPAM } = (await docker.getNetwork(NETWORK).inspect()) as Docker.NetworkInspectInfo;
  const subnets = (IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet?.includes(".") ? [Subnet] : []));
  return [...subnets, ...(local ? await ownAddresses() : [])];
}

/** All IPv4 addresses of this machine, interfaces without a carrier included; where there is no such file, none. */
async function ownAddresses(): Promise<string[]> {
  const text = await readFile("/proc/net/fib_trie", "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const found = [...text.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g)].map(
    ([, address]) => `${address}/32`,
  );
  return [...new Set(found)].filter((address) => !address.startsWith("127."));
}
