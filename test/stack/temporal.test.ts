import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import test from "ava";
import {
  ensureTemporal,
  keepTemporal,
  stopTemporal,
  type TemporalService,
  temporalStatus,
} from "../../scripts/stack/temporal.ts";
import { ensureTemporalBinary } from "../../scripts/stack/temporal-binary.ts";
import { SEARCH_ATTRIBUTES } from "../../workers/temporal-connection.ts";
import { testStateFolder } from "../support/state.ts";
import { testTemporal } from "../support/temporal.ts";

const temporalModule = new URL("../../scripts/stack/temporal.ts", import.meta.url).href;

test.before(async () => {
  process.env.BENCH_TEMPORAL_CLI = await ensureTemporalBinary({ stateFolder: testStateFolder() });
});

async function temporaryState(): Promise<string> {
  return mkdtemp(join(tmpdir(), "temporal-test-"));
}

async function remove(stateFolder: string): Promise<void> {
  await stopTemporal({ stateFolder, graceSeconds: 5 });
  await rm(stateFolder, { recursive: true });
}

async function withClient<T>(service: TemporalService, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect(service.connection);
  try {
    return await use(new Client({ connection, namespace: service.namespace }));
  } finally {
    await connection.close();
  }
}

/** Another process that ensures the server, prints the result and is killed with SIGKILL. */
async function ensureElsewhere(stateFolder: string): Promise<TemporalService> {
  const code = `
    const { ensureTemporal } = await import(${JSON.stringify(temporalModule)});
    console.log(JSON.stringify(await ensureTemporal({ stateFolder: ${JSON.stringify(stateFolder)} })));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes("\n")) break;
  }
  child.kill("SIGKILL");
  return JSON.parse(output) as TemporalService;
}

test("two processes that start at once share one server, which outlives their kill -9", async (t) => {
  const stateFolder = await temporaryState();
  const services = await Promise.all([ensureElsewhere(stateFolder), ensureElsewhere(stateFolder)]);
  t.is(services[0].address, services[1].address);
  t.deepEqual(services.map((service) => service.started).sort(), [false, true]);
  const again = await ensureTemporal({ stateFolder });
  t.is(again.address, services[0].address);
  t.false(again.started);
  t.true(await stopTemporal({ stateFolder }));
  t.false(await stopTemporal({ stateFolder }));
  t.is(await temporalStatus(stateFolder), null);
  await remove(stateFolder);
});

test("after kill -9 the server comes back at the same address with its workflows", async (t) => {
  const stateFolder = await temporaryState();
  const service = await ensureTemporal({ stateFolder });
  const ids = Array.from({ length: 20 }, (_, n) => `kept-${n}`);
  await withClient(service, async (client) => {
    for (const workflowId of ids) await client.workflow.start("nobody", { workflowId, taskQueue: "none" });
  });
  process.kill((await temporalStatus(stateFolder))?.pid ?? 0, "SIGKILL");
  const again = await ensureTemporal({ stateFolder });
  t.true(again.started);
  t.is(again.address, service.address);
  await withClient(again, async (client) => {
    for (const id of ids) t.is((await client.workflow.getHandle(id).describe()).status.name, "RUNNING");
  });
  await remove(stateFolder);
});

test("a server that dies is restarted by its keeper until the keeper is told to end", async (t) => {
  const stateFolder = await temporaryState();
  const service = await ensureTemporal({ stateFolder });
  const end = new AbortController();
  const restarts: string[] = [];
  const keeper = keepTemporal({ stateFolder, signal: end.signal }, ({ address }) => restarts.push(address));
  process.kill((await temporalStatus(stateFolder))?.pid ?? 0, "SIGKILL");
  while (restarts.length === 0) await sleep(50);
  end.abort();
  await keeper;
  t.deepEqual(restarts, [service.address]);
  await remove(stateFolder);
});

test("a port taken by a stranger is given up for another one", async (t) => {
  const stateFolder = await temporaryState();
  const service = await ensureTemporal({ stateFolder });
  await stopTemporal({ stateFolder });
  const stranger = createServer();
  await new Promise<void>((done) => {
    stranger.listen(Number(service.address.split(":")[1]), "127.0.0.1", done);
  });
  const again = await ensureTemporal({ stateFolder });
  t.not(again.address, service.address);
  stranger.close();
  t.is((await temporalStatus(stateFolder))?.address, again.address);
  await remove(stateFolder);
});

test("the server listens on the loopback interface only", async (t) => {
  await testTemporal();
  const inodes = (await readFile("/proc/net/tcp6", "utf8")).split("\n").slice(1);
  const lines = [...(await readFile("/proc/net/tcp", "utf8")).split("\n").slice(1), ...inodes].filter(
    Boolean,
  );
  const port = Number((await testTemporal()).address.split(":")[1]);
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = lines
    .map((line) => line.trim().split(/\s+/))
    .filter((f) => f[3] === "0A" && f[1]?.endsWith(`:${hex}`));
  t.deepEqual(
    listening.map((fields) => fields[1]),
    [`0100007F:${hex}`],
  );
});

test("workflows are found by the search attributes of the bench", async (t) => {
  const service = await testTemporal();
  const names = SEARCH_ATTRIBUTES.map((name) => [name, ["value one"]]);
  await withClient(service, async (client) => {
    const searchAttributes = Object.fromEntries(names) as Record<string, string[]>;
    await client.workflow.start("nobody", { workflowId: "findable", taskQueue: "none", searchAttributes });
    const query = SEARCH_ATTRIBUTES.map((name) => `${name} = "value one"`).join(" AND ");
    let found: string[] = [];
    for (let look = 0; look < 100 && found.length === 0; look++, await sleep(50)) {
      found = [];
      for await (const workflow of client.workflow.list({ query })) found.push(workflow.workflowId);
    }
    t.deepEqual(found, ["findable"]);
  });
});

test("a given address is checked and used, and never started or stopped", async (t) => {
  const { address } = await testTemporal();
  const stateFolder = await temporaryState();
  const service = await ensureTemporal({ stateFolder, address });
  t.like(service, { address, owned: false, started: false });
  t.false(await stopTemporal({ stateFolder }));
  await rm(stateFolder, { recursive: true });
});

test("an address where nothing answers, or a namespace that is not there, is one clear line", async (t) => {
  const { address } = await testTemporal();
  const stateFolder = await temporaryState();
  const refused = await t.throwsAsync(ensureTemporal({ stateFolder, address: "127.0.0.1:1" }));
  t.regex(refused?.message ?? "", /127\.0\.0\.1:1.*Remedy: correct --address/);
  const absent = await t.throwsAsync(ensureTemporal({ stateFolder, address, namespace: "absent" }));
  t.regex(absent?.message ?? "", /namespace absent/);
  t.notRegex(absent?.message ?? "", /\n/);
  await rm(stateFolder, { recursive: true });
});

test("a command that is no Temporal server is reported with its log", async (t) => {
  const stateFolder = await temporaryState();
  const broken = join(stateFolder, "temporal-cli");
  await writeFile(broken, "#!/bin/sh\necho I am broken\nexit 3\n", { mode: 0o755 });
  const code = `
    const { ensureTemporal } = await import(${JSON.stringify(temporalModule)});
    await ensureTemporal({ stateFolder: ${JSON.stringify(stateFolder)} }).catch((error) => console.log(error.message));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, BENCH_TEMPORAL_CLI: broken },
  });
  let output = "";
  for await (const chunk of child.stdout) output += chunk;
  t.regex(output, /does not start.*I am broken/s);
  await rm(stateFolder, { recursive: true });
});
