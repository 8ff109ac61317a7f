import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { localCapabilities } from "../../activities/sandbox/local/capabilities.ts";
import { localDriver } from "../../activities/sandbox/local/driver.ts";
import { idMap } from "../../activities/sandbox/local/id-map.ts";
import { runCommand } from "../../activities/sandbox/run-command.ts";
import { testBase } from "../support/base.ts";
import { childrenOf, hostView, isRunning, named, pids, workingFolder } from "./host-view.ts";
import { eventually, probe, type Subject, specOf, withSandbox } from "./subject.ts";

const stateFolder = await mkdtemp(join(tmpdir(), "local-host-"));
test.after.always(() => rm(stateFolder, { recursive: true, force: true }));

const driver = localDriver({ stateFolder, host: "test" });
const subject: Subject = {
  name: "local",
  driver: () => driver,
  base: testBase,
  capabilities: localCapabilities(idMap()),
};

/** A worker process of its own, which creates the sandbox, starts a command and polls it. */
async function otherWorker(spec: object, exec: object): Promise<ChildProcess> {
  const at = (path: string) =>
    JSON.stringify(new URL(`../../activities/sandbox/${path}`, import.meta.url).href);
  const code = `
    const { localDriver } = await import(${at("local/driver.ts")});
    const { runCommand } = await import(${at("run-command.ts")});
    const driver = localDriver({ stateFolder: ${JSON.stringify(stateFolder)}, host: "test" });
    const ref = await driver.create(${JSON.stringify(spec)});
    await driver.start(ref, ${JSON.stringify(exec)});
    console.log("started");
    await runCommand(driver, ref, ${JSON.stringify(exec)});`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return child;
}

test.serial("a command goes on when its worker is killed, and another worker attaches to it", async (t) => {
  const spec = await specOf(subject);
  const exec = {
    id: "long",
    root: "main",
    command: "echo start >> /root/log; sleep 1.5; echo end >> /root/log; cat /root/log",
    cwd: "/",
    environment: {},
    seconds: 60,
    outputBytes: 1_000_000,
    stdin: null,
  };
  const worker = await otherWorker(spec, exec);
  const ref = { driver: "local" as const, id: spec.id, host: "test" };
  try {
    worker.kill("SIGKILL");
    await once(worker, "exit");
    t.is((await driver.poll(ref, "long")).state, "running");
    t.like(await runCommand(driver, ref, exec), { end: "exited", exit: 0 });
    t.is((await driver.read(ref, "long", "stdout", { head: 100, tail: 0 })).text, "start\nend\n");
  } finally {
    await driver.destroy(ref);
  }
});

/** Starts to create the sandbox in a worker process and kills it after the delay. */
async function killedCreation(spec: object, delay: number): Promise<void> {
  const driverModule = new URL("../../activities/sandbox/local/driver.ts", import.meta.url).href;
  const code = `
    const { localDriver } = await import(${JSON.stringify(driverModule)});
    const driver = localDriver({ stateFolder: ${JSON.stringify(stateFolder)}, host: "test" });
    console.log("creating");
    await driver.create(${JSON.stringify(spec)});`;
  const arguments_ = ["--input-type=module", "-e", code];
  const child = spawn(process.execPath, arguments_, { stdio: ["ignore", "pipe", "inherit"] });
  // A quick machine has made the sandbox, and ended the process, before the delay is over.
  const ended = once(child, "exit");
  await once(child.stdout as NodeJS.ReadableStream, "data");
  await sleep(delay);
  child.kill("SIGKILL");
  await ended;
}

test.serial(
  "a sandbox that a killed worker left half made is finished or destroyed by another",
  async (t) => {
    for (const delay of [0, 10, 20, 40, 80]) {
      const spec = await specOf(subject);
      await killedCreation(spec, delay);
      const ref = await driver.create(spec);
      t.is(await probe(driver, ref).say("echo made"), "made");
      await driver.destroy(ref);
      const other = await specOf(subject, { network: "on" });
      await killedCreation(other, delay);
      await driver.destroy({ driver: "local", id: other.id, host: "test" });
    }
    t.deepEqual(await readdir(join(stateFolder, "sandboxes")), []);
    const keepers = named(pids(), "sandbox-keeper");
    t.deepEqual(
      keepers.filter((pid) => workingFolder(pid).startsWith(stateFolder)),
      [],
    );
  },
);

test.serial("destroy leaves no process, mount, loop device, control group or folder", async (t) => {
  const ref = await driver.create(await specOf(subject, { network: "on" }));
  const { run, say } = probe(driver, ref);
  await say("(setsid sleep 1000 > /dev/null 2>&1 &); head -c 50M /dev/urandom > /root/dirty");
  await driver.push(ref, "main", "f");
  await driver.fork(ref, "main", "side");
  await run("setsid sleep 1000 > /dev/null 2>&1 & touch /root/f", { root: "side" });
  const view = hostView(stateFolder, ref.id);
  const processes = view.processes();
  t.true(processes.length >= 5);
  t.true(view.traces().length > 0 || subject.capabilities.limits.disk !== "kernel");
  t.false(
    view.traces().some((trace) => trace.includes(" - ")),
    "no mount of it is seen on the host",
  );
  await driver.destroy(ref);
  t.deepEqual([...processes, view.keeper].filter(isRunning), []);
  t.deepEqual(view.traces(), []);
  t.false(existsSync(view.home));
  t.deepEqual(await readdir(join(stateFolder, "sandboxes")), []);
});

test.serial("a killed keeper takes the sandbox with it, and destroy still cleans up", async (t) => {
  const ref = await driver.create(await specOf(subject, { network: "on" }));
  await probe(driver, ref).say("setsid sleep 1000 > /dev/null 2>&1 & head -c 20M /dev/urandom > /root/dirty");
  const view = hostView(stateFolder, ref.id);
  const processes = view.processes();
  const [helper, ...more] = named(childrenOf(view.keeper), "slirp4netns");
  if (helper === undefined) throw new Error("no network helper");
  t.deepEqual(more, []);
  process.kill(view.keeper, "SIGKILL");
  await eventually(async () => processes.every((pid) => !isRunning(pid)));
  await eventually(async () => !isRunning(helper));
  const lost = await t.throwsAsync(probe(driver, ref).run("true"));
  t.is((lost as { failure?: string }).failure, "sandbox_lost");
  await driver.destroy(ref);
  t.deepEqual(view.traces(), []);
  t.false(existsSync(view.home));
});

test.serial("a command whose supervisor is killed from outside is lost, never ended well", async (t) => {
  await withSandbox(subject, {}, async ({ start, ref, say }) => {
    const id = await start("sleep 1000");
    const view = hostView(stateFolder, ref.id);
    const supervisor = await eventually(async () => named(view.processes(), "supervisor")[0]);
    process.kill(supervisor, "SIGKILL");
    await eventually(async () => (await driver.poll(ref, id)).state === "ended");
    t.like(await driver.poll(ref, id), { state: "ended", end: "lost", exit: null });
    await start("echo again > /root/again", { id });
    t.is(await say("ls /root/again 2>/dev/null || echo never"), "never");
  });
});

test.serial("the deadline cleans up although no worker is there", async (t) => {
  const spec = await specOf(subject, { limits: { deadlineSeconds: 2 } });
  const ref = await driver.create(spec);
  const view = hostView(stateFolder, ref.id);
  await eventually(async () => !isRunning(view.keeper) && !isRunning(view.init));
  t.deepEqual(view.processes(), []);
  await eventually(async () => view.traces().length === 0);
  await driver.destroy(ref);
  t.deepEqual(await readdir(join(stateFolder, "sandboxes")), []);
});

test.serial("a sandbox with wrong limits or mounts is refused with one clear line", async (t) => {
  const bad: [object, RegExp][] = [
    [{ limits: { memoryBytes: -1 } }, /limits\.memoryBytes: -1\. Remedy/],
    [{ mounts: [{ source: "/no/such", target: "/x" }] }, /\/no\/such: ENOENT\. Remedy/],
    [
      { mounts: [{ source: "/etc/hostname", target: "relative" }] },
      /target "relative" must be an absolute path/,
    ],
    [{ base: { digest: "x", location: "/no/such/base" } }, /\/no\/such\/base/],
  ];
  for (const [overrides, message] of bad) {
    const spec = await specOf(subject, overrides);
    await t.throwsAsync(driver.create(spec), { message });
    await driver.destroy({ driver: "local", id: spec.id, host: "test" });
  }
  t.deepEqual(await readdir(join(stateFolder, "sandboxes")).catch(() => []), []);
});

test.serial("a removal that was killed half-way is finished by the next look at the sandboxes", async (t) => {
  const left = join(stateFolder, "sandboxes", ".trash-b-gone", "ctl");
  await mkdir(left, { recursive: true });
  await driver.list();
  t.false(existsSync(dirname(left)));
});

test.serial("without the network a sandbox has no interface but loopback", async (t) => {
  await withSandbox(subject, { network: "on" }, async ({ say, ref }) => {
    t.not(await say("ls /sys/class/net"), "lo");
    await driver.network(ref, "off");
    t.is(await say("ls /sys/class/net"), "lo");
  });
});
