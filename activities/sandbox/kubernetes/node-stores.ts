import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { CausedError } from "../../errors.ts";
import type { FileInput } from "../contained/engine.ts";
import { parseAnswer } from "../contained/frame.ts";
import { keepLine } from "../contained/layout.ts";
import type { SandboxOwner } from "../driver.ts";
import type { Cluster } from "./client.ts";
import { ExecFault, execInPod } from "./exec.ts";
import { ANNOTATIONS } from "./names.ts";
import type { Pods } from "./pods.ts";

export interface NodeStoresOptions {
  cluster: Cluster;
  pods: Pods;
  /** The pod of a sweep's store on the node of one of its sandboxes. */
  manifest(sandbox: V1Pod, sweep: string): Promise<V1Pod>;
}

/** Files that many sandboxes of a node get, kept there so that they cross the API server once. */
export interface NodeStores {
  /** Address of a store on the pod's node that has the file; null: it is not worth one, or there is none. */
  holding(sandbox: V1Pod, input: FileInput): Promise<string | null>;
  /** The store of the pod's node could not be reached from it: it is not tried again for a while. */
  unreachable(sandbox: V1Pod): void;
}

/** Less is sent as fast as a store is asked. */
const LEAST_BYTES = 2 << 20;
/** A sandbox does not wait longer for a store than a file takes without one. */
const STORE_MS = 15_000;
const AVOIDED_MS = 600_000;
/** Pairs of file and node that are remembered. */
const REMEMBERED = 10_000;

interface Store {
  name: string;
  address: string;
}

export function nodeStores(options: NodeStoresOptions): NodeStores {
  const sent = new Set<string>();
  const stores = new Map<string, Promise<Store | null>>();
  const keeping = new Map<string, Promise<void>>();
  const avoided = new Map<string, number>();
  const placeOf = (pod: V1Pod) => `${sweepOf(pod)}\n${pod.spec?.nodeName}`;
  const avoid = (place: string) => {
    avoided.set(place, Date.now() + AVOIDED_MS);
    stores.delete(place);
  };
  const storeFor = (sandbox: V1Pod, place: string): Promise<Store | null> => {
    const known = stores.get(place) ?? makeStore(options, sandbox, sweepOf(sandbox));
    stores.set(place, known);
    known.catch(() => avoid(place));
    return known;
  };
  return {
    unreachable: (sandbox) => avoid(placeOf(sandbox)),
    async holding(sandbox, input) {
      const place = placeOf(sandbox);
      if (input.size < LEAST_BYTES || (avoided.get(place) ?? 0) > Date.now()) return null;
      // The first sandbox with a file gets it directly: most sweeps of one node end there.
      if (!sent.has(`${place}\n${input.sha256}`)) {
        if (sent.size > REMEMBERED) sent.clear();
        sent.add(`${place}\n${input.sha256}`);
        return null;
      }
      try {
        const store = await Promise.race([storeFor(sandbox, place), sleep(STORE_MS, null, { ref: false })]);
        if (store === null) return null;
        const key = `${store.name} ${store.address} ${input.sha256}`;
        const kept = keeping.get(key) ?? keep(options.cluster, store, input);
        keeping.set(key, kept);
        kept.catch(() => keeping.delete(key));
        await kept;
        return store.address;
      } catch (error) {
        // Whatever is wrong with a store, the direct way is left.
        if (!(error instanceof CausedError || error instanceof ExecFault)) throw error;
        process.emitWarning(`store of ${place.replace("\n", " on ")}: ${error.message}`);
        avoid(place);
        return null;
      }
    },
  };
}

function sweepOf({ metadata }: V1Pod): string {
  return (
    (JSON.parse(metadata?.annotations?.[ANNOTATIONS.owner] ?? "{}") as Partial<SandboxOwner>).sweep ?? ""
  );
}

/** One that has ended is made anew. */
async function makeStore(
  { pods, manifest }: NodeStoresOptions,
  sandbox: V1Pod,
  sweep: string,
): Promise<Store | null> {
  const wanted = await manifest(sandbox, sweep);
  const name = wanted.metadata?.name ?? "";
  const provide = async () => {
    const pod = await pods.provide(wanted);
    const address = pod.status?.podIP;
    return address && !address.includes(":") ? { name, address } : null;
  };
  try {
    return await provide();
  } catch (error) {
    if (!(error instanceof CausedError)) throw error;
    await pods.remove(name);
    return provide();
  }
}

async function keep(cluster: Cluster, { name }: Store, input: FileInput): Promise<void> {
  const answer = parseAnswer(await execInPod(cluster, name, keepLine(input.sha256), input()));
  if (answer.status !== "ok") throw new CausedError("capacity", `pod ${name}: ${answer.body}`);
}
