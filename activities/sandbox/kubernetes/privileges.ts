import { probeSpec } from "../contained/probe-spec.ts";
import type { Capabilities, SandboxDriver, SandboxSpec } from "../driver.ts";
import type { Cluster } from "./client.ts";
import { remembered } from "./objects.ts";
import type { Privilege } from "./pod-spec.ts";
import type { PodTemplate } from "./pod-template.ts";
import { type Found, findPrivilege, policiesHold, type UserNamespaces } from "./probe.ts";

export interface Privileges {
  /** What a sandbox's pod is given. */
  privilege(spec: SandboxSpec): Promise<Privilege>;
  capabilities(): Promise<Capabilities>;
}

export interface PrivilegeOptions {
  installation: string;
  template: PodTemplate;
  userNamespaces: UserNamespaces;
  /** Image of the probe for capabilities that are asked for before any sandbox was made. */
  image: string | null;
}

/** Found by a probe once for each image, settings and program, and remembered in the cluster. */
export function privilegesOf(
  { installation, template, userNamespaces, image: asked }: PrivilegeOptions,
  { cluster, program }: { cluster: Cluster; program: () => Promise<string> },
  driverWith: (privilege: Privilege) => SandboxDriver,
  addressOf: (id: string) => Promise<string>,
): Privileges {
  const found = perImage(async (image) => {
    const key = [installation, image, await program(), userNamespaces, JSON.stringify(template)];
    return remembered(cluster, key, async () => {
      const found = await findPrivilege(probeSpec(image), userNamespaces, driverWith);
      if (found.privilege.mounts) return found;
      const policies = await policiesHold(driverWith(found.privilege), probeSpec(image), addressOf);
      return { ...found, policies };
    });
  });
  return {
    privilege: async ({ base }) => (await found(base.location)).privilege,
    capabilities: async () => capabilitiesOf(await found(asked)),
  };
}

function capabilitiesOf({ privilege, policies }: Found): Capabilities {
  const { mounts, userNamespace } = privilege;
  return {
    snapshots: mounts ? "layers" : "rebuild",
    networkSwitch: mounts || policies === true,
    userNamespaces: false,
    limits: {
      memory: "kernel",
      processes: userNamespace ? "kernel" : "none",
      // The kubelet measures now and then, and evicts who is over the limit.
      disk: "watched",
    },
  };
}

/** One probe per image and process; the first image's finding answers for a null one. */
function perImage(find: (image: string) => Promise<Found>): (image: string | null) => Promise<Found> {
  const found = new Map<string, Promise<Found>>();
  return (image) => {
    const known = image === null ? found.values().next().value : found.get(image);
    if (known) return known;
    if (image === null) {
      throw new Error(
        "what the cluster can do is found out by a pod, which needs an image. Remedy: kubernetes.image",
      );
    }
    const finding = find(image);
    found.set(image, finding);
    finding.catch(() => found.delete(image));
    return finding;
  };
}
