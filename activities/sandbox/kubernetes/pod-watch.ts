import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { request } from "undici";
import { toApiError } from "./api-error.ts";
import type { Cluster } from "./client.ts";

/** What is known of a pod: as it was last seen, and whether it is gone since. */
interface Seen {
  pod: V1Pod;
  gone: boolean;
}

/** All pods of one label selector, followed by one watch for the whole process. */
export interface PodWatch {
  /** Undefined when it was never seen, or when the watch is not up to date: then ask the server. */
  seen(name: string): Seen | undefined;
  /** All that are there; none while the watch is not up to date. */
  all(): V1Pod[];
  /** Resolves when the pod changes, at the latest after so many milliseconds. */
  change(name: string, milliseconds: number): Promise<void>;
  close(): void;
}

/** The watch ends after this and everything is listed again: watches go silent without an error (client#596, #958). */
const RELIST_SECONDS = 60;
/** Bookmarks come about once a minute; a watch that is silent for longer is dead. */
const SILENCE_MS = 90_000;
/** Nobody asked for this long: the watch stops until somebody does, so that it keeps no process alive. */
const LINGER_MS = 20_000;
/** Ended pods are remembered, since the server forgets why they ended. */
const REMEMBER_MS = 600_000;

export function watchPods(cluster: Cluster, labelSelector: string): PodWatch {
  const pods = new Map<string, Seen & { at: number }>();
  const waiting = new Map<string, Set<() => void>>();
  let asked = 0;
  let fresh = false;
  let stop: AbortController | null = null;

  const note = (pod: V1Pod, gone: boolean) => {
    const name = pod.metadata?.name ?? "";
    pods.set(name, { pod, gone, at: Date.now() });
    for (const resolve of waiting.get(name) ?? []) resolve();
  };
  const replace = (items: V1Pod[]) => {
    const names = new Set(items.map(({ metadata }) => metadata?.name));
    for (const [name, seen] of pods) {
      if (seen.gone && Date.now() - seen.at > REMEMBER_MS) pods.delete(name);
      else if (!seen.gone && !names.has(name)) note(seen.pod, true);
    }
    for (const pod of items) note(pod, false);
  };
  /** One list and the watch from there. */
  const round = async (signal: AbortSignal) => {
    const { namespace } = cluster;
    const list = await cluster.core("list pods", (api) =>
      api.listNamespacedPod({ namespace, labelSelector }),
    );
    replace(list.items);
    fresh = true;
    const resourceVersion = list.metadata?.resourceVersion ?? "";
    await follow(cluster, { labelSelector, resourceVersion }, signal, (type, pod) => {
      if (type === "ADDED" || type === "MODIFIED") note(pod, false);
      if (type === "DELETED") note(pod, true);
    });
  };
  /** Any error means another list: 410s, resets and restarts of the server alike (client#1496). */
  const run = async (signal: AbortSignal) => {
    for (let failures = 0; !signal.aborted && Date.now() - asked < LINGER_MS; ) {
      try {
        await round(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        fresh = false;
        failures++;
        if (failures === 5) process.emitWarning(`watch of pods: ${(error as Error).message}`);
        await sleep(Math.min(10_000, 250 * 2 ** failures), undefined, { signal, ref: false }).catch(() => {});
      }
    }
    fresh = false;
  };
  const ask = () => {
    asked = Date.now();
    if (stop !== null) return;
    const controller = new AbortController();
    stop = controller;
    const idle = setInterval(
      () => Date.now() - asked > LINGER_MS && controller.abort(),
      LINGER_MS / 4,
    ).unref();
    void run(controller.signal).finally(() => {
      clearInterval(idle);
      if (stop === controller) stop = null;
    });
  };

  return {
    seen(name) {
      ask();
      return fresh ? pods.get(name) : undefined;
    },
    all() {
      ask();
      return fresh ? [...pods.values()].filter(({ gone }) => !gone).map(({ pod }) => pod) : [];
    },
    change(name, milliseconds) {
      ask();
      return new Promise((resolve) => {
        const others = waiting.get(name) ?? new Set();
        const done = () => {
          clearTimeout(timer);
          others.delete(done);
          if (others.size === 0) waiting.delete(name);
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        waiting.set(name, others.add(done));
      });
    },
    close: () => stop?.abort(),
  };
}

interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: V1Pod;
}

/** One watch request, until the server ends it. Bookmarks keep the connection from being silent. */
async function follow(
  cluster: Cluster,
  query: { labelSelector: string; resourceVersion: string },
  signal: AbortSignal,
  event: (type: WatchEvent["type"], pod: V1Pod) => void,
): Promise<void> {
  const config = cluster.config();
  const { headers } = await config.credentials();
  const parameters = new URLSearchParams({
    ...query,
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(RELIST_SECONDS),
  });
  const url = `${cluster.server}/api/v1/namespaces/${cluster.namespace}/pods?${parameters}`;
  const response = await request(url, {
    headers,
    signal,
    dispatcher: await config.dispatcher(),
    headersTimeout: 30_000,
    bodyTimeout: SILENCE_MS,
  });
  if (response.statusCode === 401) cluster.renew(config);
  if (response.statusCode !== 200)
    throw toApiError("watch pods", new Error(`HTTP ${response.statusCode}: ${await response.body.text()}`));
  let rest = "";
  response.body.setEncoding("utf8");
  for await (const chunk of response.body) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as WatchEvent;
      if (type === "ERROR") throw new Error(JSON.stringify(object));
      if (type !== "BOOKMARK") event(type, object);
    }
  }
}
