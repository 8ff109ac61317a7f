import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";
import type { OnCluster } from "./cluster.ts";
import { median, mustRun, timed } from "./timing.ts";

export interface Inside {
  /** A command that does nothing, from start to its known end. */
  exec_ms: number;
  put_50mb_ms: number;
  get_50mb_ms: number;
  push_ms: number;
  pop_ms: number;
  fork_ms: number;
  /** Requests to the API server for one command of a step, its two outputs read. */
  requests_per_step: number;
  /** New connections for all of the rounds. */
  sockets: number;
}

const ROUNDS = 10;
const MEGABYTES = 50;

/** What is done to a sandbox that is there. */
export async function measureInside(on: OnCluster): Promise<Inside> {
  const driver = on.driver();
  const sandbox = await driver.create(on.spec());
  await mustRun(driver, sandbox, "warm", "true");
  const { requests, sockets, times } = await counted(async () => {
    const taken: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      taken.push(await timed(() => mustRun(driver, sandbox, `exec-${round}`, "true")));
      for (const stream of ["stdout", "stderr"] as const)
        await driver.read(sandbox, `exec-${round}`, stream, { head: 1_000, tail: 1_000 });
    }
    return taken;
  });
  const put = await timed(() => driver.put(sandbox, "main", "/srv/given", fiftyMegabytes()));
  const get = await timed(async () => buffer(await driver.get(sandbox, "main", "/srv/given")));
  const [push, pop, fork]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    push.push(await timed(() => driver.push(sandbox, "main", `frame-${round}`)));
    await mustRun(driver, sandbox, `change-${round}`, "echo new > /srv/new; rm -r /srv/given");
    pop.push(await timed(() => driver.pop(sandbox, "main", `frame-${round}`)));
    fork.push(await timed(() => driver.fork(sandbox, "main", `fork-${round}`)));
    await driver.drop(sandbox, `fork-${round}`);
  }
  await driver.destroy(sandbox);
  return {
    ...{ exec_ms: median(times), put_50mb_ms: put, get_50mb_ms: get },
    ...{ push_ms: median(push), pop_ms: median(pop), fork_ms: median(fork) },
    ...{ requests_per_step: requests / ROUNDS, sockets },
  };
}

function fiftyMegabytes(): Readable {
  const tar = pack();
  tar.entry({ name: "data" }, Buffer.alloc(MEGABYTES << 20, "0123456789abcdef"));
  tar.finalize();
  return Readable.from(tar);
}

/** Requests and connections of this process meanwhile; a call that upgrades its connection is a request as well. */
async function counted(work: () => Promise<number[]>) {
  let [requests, sockets] = [0, 0];
  const onRequest = () => void requests++;
  const onSocket = () => void sockets++;
  const channels = [
    ["undici:request:create", onRequest],
    ["http.client.request.start", onRequest],
    ["net.client.socket", onSocket],
  ] as const;
  for (const [channel, listener] of channels) subscribe(channel, listener);
  const times = await work();
  for (const [channel, listener] of channels) unsubscribe(channel, listener);
  return { times, requests, sockets };
}
