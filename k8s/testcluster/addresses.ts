/** Name of the one node. */
export const NODE = "testcluster";
/** Ranges inside the node's own network: the machine and other test clusters on it never see them. */
export const POD_RANGE = "10.204.0.0/16";
export const POD_GATEWAY = "10.204.0.1";
export const SERVICE_RANGE = "10.205.0.0/16";
export const SERVICE_API = "10.205.0.1";
export const API_PORT = 6443;
/** Test clusters that one machine can run at once. */
export const SLOTS = 16;

/** The cable between this machine and a node. */
export interface Link {
  /** Its end on this machine. */
  interface: string;
  host: string;
  node: string;
}

export function hostAddress(slot: number): string {
  return `10.203.${slot}.1`;
}

export function nodeAddress(slot: number): string {
  return `10.203.${slot}.2`;
}

/** In the server's certificate, so that a cluster may come up in another slot. */
export function allNodeAddresses(): string[] {
  return Array.from({ length: SLOTS }, (_, slot) => nodeAddress(slot));
}
