import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { stopStack, workerStatus } from "../../scripts/stack/stack.ts";
import { ensureWorker } from "../../scripts/stack/worker-daemon.ts";

/** Accepts connections and never answers: a worker that connects waits. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const end = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, end };
}

test("a worker of another server is refused while that answers, and replaced when it is gone", async (t) => {
  const state = await mkdtemp(join(tmpdir(), "setup-bench-worker-"));
  const [one, two] = [await silentServer(), await silentServer()];
  try {
    await ensureWorker({ state, address: one.address, namespace: "default", server: "any" });
    const first = await workerStatus(state);
    await ensureWorker({ state, address: one.address, namespace: "default", server: "any" });
    t.is((await workerStatus(state))?.pid, first?.pid);
    await t.throwsAsync(ensureWorker({ state, address: two.address, namespace: "default", server: "any" }), {
      instanceOf: UsageError,
      message: /serves 127\.0\.0\.1:\d+ \(namespace default\); stop it with `pnpm bench down`/,
    });
    one.end();
    await ensureWorker({ state, address: two.address, namespace: "default", server: "any" });
    const second = await workerStatus(state);
    t.truthy(second);
    t.not(second?.pid, first?.pid);
  } finally {
    one.end();
    two.end();
    await stopStack(state);
    await rm(state, { recursive: true, force: true });
  }
});
