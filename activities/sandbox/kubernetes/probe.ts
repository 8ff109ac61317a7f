import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import type { SandboxDriver, SandboxSpec } from "../driver.ts";
import { runCommand } from "../run-command.ts";
import { NoRoom } from "./pod-errors.ts";
import type { Privilege } from "./pod-spec.ts";

/** Whether pods get user namespaces of their own. `required`: no sandbox without one. */
export type UserNamespaces = "auto" | "required" | "off";

export interface Found {
  privilege: Privilege;
  /** Why less was not enough, one line each. */
  tried: string[];
  /** Whether network policies hold; null where PID 1 switches the network itself and nobody needs to know. */
  policies: boolean | null;
}

/** From the least privilege that mounts layers to none at all. */
export function candidates(userNamespaces: UserNamespaces): Privilege[] {
  const own = [
    { mounts: true, userNamespace: true, seccomp: "RuntimeDefault" },
    { mounts: true, userNamespace: true, seccomp: "Unconfined" },
  ] as const;
  const shared = [
    { mounts: true, userNamespace: false, seccomp: "RuntimeDefault" },
    { mounts: true, userNamespace: false, seccomp: "Unconfined" },
  ] as const;
  const none = { mounts: false, seccomp: "RuntimeDefault" } as const;
  if (userNamespaces === "required") return [...own, { ...none, userNamespace: true }];
  if (userNamespaces === "off") return [...shared, { ...none, userNamespace: false }];
  return [...own, ...shared, { ...none, userNamespace: true }, { ...none, userNamespace: false }];
}

/** Faults of the cluster's state, which say nothing of what a pod may. */
const PASSING = [
  "image_pull",
  "credentials",
  "sandbox_preempted",
  "disk_pressure",
  "node_lost",
  "sandbox_evicted",
];

/**
 * Makes a sandbox with each candidate in turn until one works, layers included. What does not depend on the privilege
 * (no image, no room) is thrown; when none works, the last candidate's failure.
 */
export async function findPrivilege(
  spec: SandboxSpec,
  userNamespaces: UserNamespaces,
  driverWith: (privilege: Privilege) => SandboxDriver,
): Promise<Found> {
  const tried: string[] = [];
  let last: unknown;
  for (const privilege of candidates(userNamespaces)) {
    const driver = driverWith(privilege);
    const id = `${spec.id}-${tried.length}`;
    try {
      const sandbox = await driver.create({ ...spec, id });
      if (privilege.mounts) await driver.push(sandbox, "main", "probe");
      return { privilege, tried, policies: null };
    } catch (error) {
      if (!(error instanceof CausedError) || error instanceof NoRoom || PASSING.includes(error.failure))
        throw error;
      tried.push(`${describe(privilege)}: ${error.message}`);
      last = error;
    } finally {
      await driver.destroy({ driver: "kubernetes", id, host: "" });
    }
  }
  throw last;
}

function describe({ mounts, userNamespace, seccomp }: Privilege): string {
  const users = userNamespace ? "its own user namespace" : "the node's user namespace";
  return `${mounts ? "SYS_ADMIN" : "no SYS_ADMIN"} in ${users}, seccomp ${seccomp}`;
}

/**
 * Whether the cluster's network enforces policies: a sandbox whose network is off tries to reach the pod of another.
 * Where policies are ignored, the other pod's kernel answers at once that nobody listens.
 */
export async function policiesHold(
  driver: SandboxDriver,
  spec: SandboxSpec,
  addressOf: (id: string) => Promise<string>,
): Promise<boolean> {
  const specs = (["off", "on"] as const).map((network) => ({
    ...spec,
    id: `${spec.id}-${network}`,
    network,
  }));
  try {
    const [from] = await Promise.all(specs.map((one) => driver.create(one)));
    const address = await addressOf(`${spec.id}-on`);
    const ended = await runCommand(driver, from as SandboxRef, {
      id: "reach",
      root: "main",
      command: `timeout 5 bash -c 'exec 3<>/dev/tcp/${address}/9'`,
      cwd: "/",
      environment: {},
      seconds: 30,
      outputBytes: 10_000,
      stdin: null,
    });
    return ended.exit === 124;
  } finally {
    for (const { id } of specs) await driver.destroy({ driver: "kubernetes", id, host: "" });
  }
}
