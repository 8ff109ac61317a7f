import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut as a network is: what is under way is lost in silence, or reset. */
export interface CutProxy {
  port: number;
  /** Connections open at the moment, and made so far. */
  open(): number;
  made(): number;
  /** Bytes no longer pass, in either direction; connections stay open and say nothing. */
  silence(): void;
  /** Bytes pass again, for new connections. */
  restore(): void;
  /** All connections end at once. */
  reset(): void;
  close(): Promise<void>;
}

export async function cutProxy(host: string, port: number, listenOn = 0): Promise<CutProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let silent = false;
  let made = 0;
  const server = createServer((inner) => {
    made++;
    const outer = connect(port, host);
    const pair: [Socket, Socket] = [inner, outer];
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.on("data", (chunk: Buffer) => {
        if (!silent && !to.write(chunk)) from.pause();
      });
      to.on("drain", () => from.resume());
      from.on("error", () => {});
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(listenOn, "127.0.0.1", resolve));
  const reset = () => {
    for (const [inner, outer] of pairs) {
      inner.resetAndDestroy();
      outer.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    open: () => pairs.size,
    made: () => made,
    silence: () => {
      silent = true;
    },
    restore() {
      silent = false;
      reset();
    },
    reset,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        reset();
      }),
  };
}
