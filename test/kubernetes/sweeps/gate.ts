import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { V1Pod } from "@kubernetes/client-node";
import type { SandboxOwner } from "../../../activities/sandbox/driver.ts";
import type { Cluster } from "../../../activities/sandbox/kubernetes/client.ts";
import { ANNOTATIONS } from "../../../activities/sandbox/kubernetes/names.ts";
import type { Address } from "./guarded.ts";

export type Stage = "setup" | "replay" | "tests";

/** A guarded command that is running, in this pod. */
export interface Held {
  cell: string;
  pod: string;
  node: string;
  /** Lets it go on to its end. */
  release(): void;
  /** Resolves when its process has ended, in whatever way. */
  ended: Promise<void>;
}

/** One start of a guarded command; `sandbox` names the sandbox by what the command itself found there. */
export interface Execution {
  what: string;
  sandbox: string;
}

export interface Gate {
  address: Address;
  /** All executions since the last call. */
  executions(): Execution[];
  /** From now on holds the commands of the stage; resolves when those of so many cells are held. Others go on. */
  hold(stage: Stage, cells: number): Promise<Held[]>;
  close(): void;
}

interface Caller extends Execution {
  ip: string;
}

/**
 * Where guarded commands (guarded.ts) report from inside of pods. It knows the moment: while a command is held, its pod is
 * in the middle of that command, however slow the machine is.
 */
export async function openGate(cluster: Cluster): Promise<Gate> {
  const seen: Execution[] = [];
  const sockets = new Set<Socket>();
  let wanted: { stage: Stage; take: (held: Held) => void; fail: (error: unknown) => void } | null = null;

  const decide = async (socket: Socket, caller: Caller, ended: Promise<void>) => {
    const release = () => void socket.end("g");
    const asked = wanted;
    if (asked === null) return release();
    const pod = await podAt(cluster, caller.ip);
    const stage = caller.what === "tests" ? "tests" : purposeOf(pod);
    if (stage !== asked.stage || asked !== wanted) return release();
    const owner = JSON.parse(pod.metadata?.annotations?.[ANNOTATIONS.owner] ?? "{}") as SandboxOwner;
    const [name = "", node = ""] = [pod.metadata?.name, pod.spec?.nodeName];
    asked.take({ cell: owner.run, pod: name, node, release, ended });
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    void ended.then(() => sockets.delete(socket));
    // A killed process resets it: `close` tells that as well.
    socket.on("error", () => socket.destroy());
    socket.once("data", (data) => {
      const caller = JSON.parse(data.toString()) as Caller;
      seen.push({ what: caller.what, sandbox: caller.sandbox });
      decide(socket, caller, ended).catch((error) => {
        socket.destroy();
        wanted?.fail(error);
      });
    });
  });
  const host = await addressToward(cluster.server);
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    address: { host, port },
    executions: () => seen.splice(0),
    hold(stage, cells) {
      const all: Held[] = [];
      return new Promise((resolve, fail) => {
        const take = (held: Held) => {
          all.push(held);
          if (all.length < cells) return;
          wanted = null;
          resolve(all);
        };
        wanted = { stage, take, fail };
      });
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function podAt({ core, namespace }: Cluster, ip: string): Promise<V1Pod> {
  const { items } = await core("list pods", (api) => api.listNamespacedPod({ namespace }));
  const pod = items.find(({ status }) => status?.phase === "Running" && status.podIP === ip);
  if (pod === undefined) throw new Error(`no pod has the address ${ip}`);
  return pod;
}

function purposeOf({ metadata }: V1Pod): Stage {
  return metadata?.annotations?.[ANNOTATIONS.id]?.endsWith("-replay") ? "replay" : "setup";
}

/** This machine's address as the cluster sees it. */
async function addressToward(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port || 443), hostname);
  await once(socket, "connect");
  const { localAddress = "" } = socket;
  socket.destroy();
  return localAddress;
}
