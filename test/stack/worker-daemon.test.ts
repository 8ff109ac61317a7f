import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
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

test("a worker that lacks a key is replaced by one that has it and keeps those that it had", async (t) => {
  const state = await mkdtemp(join(tmpdir(), "setup-bench-worker-"));
  const server = await silentServer();
  const wanted = { state, address: server.address, namespace: "default", server: "any" };
  const environment = async () => {
    const status = await workerStatus(state);
    const text = await readFile(`/proc/${status?.pid}/environ`, "utf8");
    return { pid: status?.pid, variables: text.split("\0").filter((line) => line.startsWith("TEST_KEY_")) };
  };
  try {
    process.env.TEST_KEY_ONE = "1";
    await ensureWorker({ ...wanted, keys: ["TEST_KEY_ONE"] });
    const first = await environment();
    t.deepEqual(first.variables, ["TEST_KEY_ONE=1"]);
    delete process.env.TEST_KEY_ONE;
    await ensureWorker({ ...wanted, keys: ["TEST_KEY_ONE"] });
    t.is((await environment()).pid, first.pid);
    process.env.TEST_KEY_TWO = "2";
    await ensureWorker({ ...wanted, keys: ["TEST_KEY_TWO"] });
    const second = await environment();
    t.not(second.pid, first.pid);
    t.deepEqual(second.variables.sort(), ["TEST_KEY_ONE=1", "TEST_KEY_TWO=2"]);
  } finally {
    server.end();
    await stopStack(state);
    await rm(state, { recursive: true, force: true });
  }
});
