import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import test from "ava";
import { execa } from "execa";
import { bindablePort } from "../../scripts/stack/port.ts";
import { ensureTemporal, stopTemporal } from "../../scripts/stack/temporal.ts";
import { ensureTemporalBinary } from "../../scripts/stack/temporal-binary.ts";
import { testStateFolder } from "../support/state.ts";
import { testTemporal } from "../support/temporal.ts";

const BENCH = fileURLToPath(new URL("../../scripts/bench.ts", import.meta.url));

interface Serving {
  health: string;
  metrics: string;
  child: ChildProcess;
  said: () => string;
}

/** A real `bench worker` in the foreground on a real server of its own. */
async function withWorker(
  queues: string,
  work: (serving: Serving, temporalState: string) => Promise<void>,
): Promise<void> {
  process.env.BENCH_TEMPORAL_CLI = await ensureTemporalBinary({ stateFolder: testStateFolder() });
  const state = await mkdtemp(join(tmpdir(), "setup-bench-serve-"));
  const temporal = await ensureTemporal({ stateFolder: state });
  const health = `127.0.0.1:${await bindablePort("127.0.0.1", 0)}`;
  const metrics = `127.0.0.1:${await bindablePort("127.0.0.1", 0)}`;
  const flags = ["--queues", queues, "--health", health, "--metrics", metrics, "--grace", "2"];
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", BENCH, "worker", "--address", temporal.address, ...flags],
    { env: { ...process.env, BENCH_STATE: state }, stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  try {
    await work({ health, metrics, child, said: () => said }, state);
  } finally {
    child.kill("SIGKILL");
    await stopTemporal({ stateFolder: state });
    await rm(state, { recursive: true, force: true });
  }
}

async function get(address: string, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://${address}${path}`);
  return { status: response.status, text: await response.text() };
}

/** Asks until the status is the wanted one; the last answer when it never is. */
async function until(address: string, path: string, status: number) {
  let last = { status: 0, text: "no answer" };
  for (let tries = 0; tries < 300 && last.status !== status; tries++) {
    last = await get(address, path).catch((error: Error) => ({ status: 0, text: error.message }));
    if (last.status !== status) await sleep(100);
  }
  return last;
}

test.serial(
  "a worker says that it is ready when it serves, shows metrics, and ends cleanly on SIGTERM",
  async (t) => {
    await withWorker("general,kubernetes", async ({ health, metrics, child, said }) => {
      t.is((await until(health, "/readyz", 200)).text, "ok\n", said());
      t.is((await get(health, "/livez")).status, 200);
      t.is((await get(health, "/elsewhere")).status, 404);
      t.is((await fetch(`http://${health}/livez`, { method: "POST" })).status, 405);
      const shown = (await get(metrics, "/metrics")).text;
      t.regex(shown, /^temporal_worker_task_slots_available\{.*task_queue="bench".*\} \d+/m);
      t.regex(shown, /^temporal_num_pollers\{.*task_queue="bench-host-kubernetes"/m);
      t.notRegex(shown, /task_queue="bench-host-(?!kubernetes)/);
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      t.deepEqual(await exited, [0, null], said());
    });
  },
);

test.serial(
  "a worker whose Temporal server is gone is not ready, yet alive, and ready again when that is back",
  async (t) => {
    await withWorker("general", async ({ health, said }, state) => {
      t.is((await until(health, "/readyz", 200)).status, 200, said());
      await stopTemporal({ stateFolder: state });
      const unready = await until(health, "/readyz", 503);
      t.is(unready.status, 503);
      t.regex(unready.text, /^Temporal does not answer: /);
      t.is((await get(health, "/livez")).status, 200);
      await ensureTemporal({ stateFolder: state });
      t.is((await until(health, "/readyz", 200)).status, 200, said());
    });
  },
);

test.serial("a SIGTERM that comes before a worker serves ends it as well", async (t) => {
  await withWorker("general", async ({ health, child, said }) => {
    await until(health, "/readyz", 503);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    t.deepEqual(await exited, [0, null], said());
  });
});

for (const flag of ["--health", "--metrics"]) {
  test.serial(`a worker whose ${flag} address is taken says so in one line`, async (t) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { address: temporal } = await testTemporal();
    const flags = ["--queues", "general", "--address", temporal, flag, address];
    const { exitCode, stderr } = await worker(flags);
    other.close();
    t.is(exitCode, 2);
    t.regex(
      stderr,
      new RegExp(`^bench: ${flag} ${address}: can't be listened at .*; name another address$`, "m"),
    );
  });
}

const REFUSED: [flags: string[], said: RegExp][] = [
  [["--queues", "general,gpu"], /--queues.*one or more of general, host, kubernetes/],
  [["--queues", ""], /--queues.*one or more of general, host, kubernetes/],
  [["--health", "8080"], /--health.*IP:PORT, such as 127\.0\.0\.1:8080/],
  [["--health", "localhost:8080"], /--health.*IP:PORT/],
  [["--metrics", "0.0.0.0:99999"], /--metrics.*IP:PORT/],
  [["--grace", "-1"], /--grace.*from 0 to 3600/],
];

for (const [flags, said] of REFUSED) {
  test.serial(`\`bench worker ${flags.join(" ")}\` is refused in one line`, async (t) => {
    const { exitCode, stderr } = await worker(flags);
    t.is(exitCode, 2);
    t.regex(stderr, said);
    t.is(stderr.split("\n").length, 1, stderr);
  });
}

function worker(flags: string[]) {
  return execa(process.execPath, ["--disable-warning=ExperimentalWarning", BENCH, "worker", ...flags], {
    reject: false,
  });
}
