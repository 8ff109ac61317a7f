import type { SandboxRef } from "../../../workflows/types.ts";
import type { Provided } from "../contained/engine.ts";

/** What a sandbox's container is given beyond the engine's defaults. */
export interface Rights {
  snapshots: Provided["snapshots"];
  loopDevices: boolean;
}

/** Of root inside, without which set-ups and PID 1's keeping of files, users and processes do not work. */
const PLAIN = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "SETPCAP",
  "SETFCAP",
  "SYS_CHROOT",
  "NET_BIND_SERVICE",
  // Routing rules, by which PID 1 switches the network; the payload has it not.
  "NET_ADMIN",
];
/** Namespaces, mounts and device nodes; looking at processes of the inner user namespace. The payload has none of them. */
const LAYERS = ["SYS_ADMIN", "SYS_PTRACE", "MKNOD"];

export function capabilitiesOf(rights: Rights): string[] {
  return rights.snapshots === "layers" ? [...PLAIN, ...LAYERS] : PLAIN;
}

/** Loop devices (major 7) and their control device; PID 1 makes the nodes, the payload can make none. */
export const LOOP_RULES = ["b 7:* rwm", "c 10:237 rwm"];

export function providedBy(sandbox: SandboxRef, rights: Rights, unreachable: readonly string[]): Provided {
  // Containers of one engine share their users with each other, and mostly with the host.
  return { sandbox, ...rights, ownUsers: false, network: "inside", unreachable };
}
