import { connect, createServer } from "node:net";

/** The port a listener on `host` can be bound to (0: any); null when it is taken. */
export function bindablePort(host: string, port: number): Promise<number | null> {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? done(null) : failed(error),
    );
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address !== null ? address.port : null));
    });
  });
}

/** Null when something accepts connections at `host:port`, else why not. */
export function refusal(host: string, port: number): Promise<string | null> {
  return new Promise((done) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (reason: string | null) => {
      socket.destroy();
      done(reason);
    };
    socket.once("connect", () => end(null));
    socket.once("timeout", () => end("the connection timed out"));
    socket.once("error", (error) => end(error.message));
  });
}
