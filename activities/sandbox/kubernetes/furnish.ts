import { isIPv4 } from "node:net";
import type { V1Pod } from "@kubernetes/client-node";
import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import type { CallInput, CallResult, Provided } from "../contained/engine.ts";
import { frameFile, parseAnswer } from "../contained/frame.ts";
import { call, MOUNTS } from "../contained/layout.ts";
import type { Cluster } from "./client.ts";
import type { MountArchive } from "./mount-archive.ts";
import { ANNOTATIONS } from "./names.ts";
import type { Privilege } from "./pod-spec.ts";

/** As the pod was made, whoever made it. */
export function privilegeOf(pod: V1Pod): Privilege {
  const noted = pod.metadata?.annotations?.[ANNOTATIONS.privilege];
  if (noted === undefined)
    throw new Error(`pod ${pod.metadata?.name} has no annotation ${ANNOTATIONS.privilege}`);
  return JSON.parse(noted) as Privilege;
}

export function provided(sandbox: SandboxRef, pod: V1Pod, unreachable: readonly string[]): Provided {
  const { mounts, userNamespace } = privilegeOf(pod);
  return {
    sandbox,
    snapshots: mounts ? "layers" : "rebuild",
    ownUsers: userNamespace,
    loopDevices: false,
    network: mounts ? "inside" : "engine",
    unreachable,
    volumes: (pod.spec?.containers[0]?.volumeMounts ?? [])
      .map(({ mountPath }) => mountPath)
      .filter((path) => !path.startsWith("/.bench/")),
  };
}

export type Ask = (argv: string[], input: CallInput | null) => Promise<CallResult>;

/** What a pod has been found to be from inside. */
export interface Inside {
  /** Addresses of the cluster itself, which no command may reach. */
  unreachable: string[];
}

/** Looks into the pod and brings it the mounts. Of no effect where that was done before. */
export async function furnish(pod: V1Pod, mounts: MountArchive | null, ask: Ask): Promise<Inside> {
  const script = `cat /proc/self/uid_map; echo "$KUBERNETES_SERVICE_HOST"; ls -A ${MOUNTS}`;
  const { stdout } = await ask(["sh", "-c", script], null);
  const [uidMap = "", apiServer = "", ...there] = stdout.toString().split("\n");
  // A runtime that knows no user namespaces ignores `hostUsers: false` in silence.
  if (privilegeOf(pod).userNamespace && !mapsRootAway(uidMap)) {
    throw new CausedError(
      "capacity",
      `node ${pod.spec?.nodeName}: a pod with hostUsers: false is not in a user namespace. Remedy: a runtime with user ` +
        "namespaces (containerd 2, runc 1.2), or kubernetes.userNamespaces: off",
    );
  }
  if (mounts !== null) await bringMounts(mounts, there, ask);
  return { unreachable: [...single(apiServer), ...single(pod.status?.hostIP ?? "")] };
}

/** What was found of a pod that was made ahead of need; null for others. */
export function furnished({ metadata }: V1Pod): Inside | null {
  const noted = metadata?.annotations?.[ANNOTATIONS.inside];
  return noted === undefined ? null : (JSON.parse(noted) as Inside);
}

/** The API server as this process reaches it, where that is a way for pods too. */
export function serverAddress({ server }: Cluster): string[] {
  const { hostname } = new URL(server);
  return hostname.startsWith("127.") ? [] : single(hostname);
}

function single(address: string): string[] {
  return isIPv4(address) ? [`${address}/32`] : [];
}

function mapsRootAway(uidMap: string): boolean {
  const [inside, outside] = uidMap.trim().split(/\s+/).map(Number);
  return inside === 0 && outside !== undefined && outside > 0;
}

/** Before it begins. Each appears whole, and the last one last: a call whose answer was lost need not be made again. */
async function bringMounts(
  { path, size, sha256, count }: MountArchive,
  there: string[],
  ask: Ask,
): Promise<void> {
  if (Array.from({ length: count }, (_, i) => String(i)).every((name) => there.includes(name))) return;
  const { status, body } = parseAnswer(await ask(call("provide"), frameFile(path, size, sha256)));
  if (status !== "ok") throw new CausedError("capacity", `the pod can't take the sandbox's mounts: ${body}`);
}
