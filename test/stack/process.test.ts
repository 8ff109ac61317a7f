import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { processIdentity, processState } from "../../activities/store/process-identity.ts";
import { daemonFiles, runningDaemon, startDaemon, stopProcess } from "../../scripts/stack/process.ts";

const processModule = new URL("../../scripts/stack/process.ts", import.meta.url).href;

function sleeper(folder: string) {
  return { folder, name: "sleeper", command: "/bin/sleep", args: ["300"], environment: { PATH: "/bin" } };
}

async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "process test-"));
}

test("a daemon is started once; the second start finds the first", async (t) => {
  const folder = await temporaryFolder();
  const starts = await Promise.all([1, 2, 3, 4].map(() => startDaemon(sleeper(folder))));
  t.is(starts.filter((start) => start.started).length, 1);
  t.is(new Set(starts.map((start) => start.identity.pid)).size, 1);
  const identity = await runningDaemon(folder, "sleeper");
  t.deepEqual(identity, processIdentity(starts[0]?.identity.pid ?? 0));
  if (identity) t.is(await stopProcess(identity, 5), "ended");
  t.is(await runningDaemon(folder, "sleeper"), null);
  await rm(folder, { recursive: true });
});

test("a daemon outlives the kill -9 of the process that started it and is found by the next", async (t) => {
  const folder = await temporaryFolder();
  const code = `
    const { startDaemon } = await import(${JSON.stringify(processModule)});
    await startDaemon(${JSON.stringify(sleeper(folder))});
    console.log("started");
    setInterval(() => {}, 1000);`;
  const starter = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(starter.stdout, "data");
  starter.kill("SIGKILL");
  await once(starter, "exit");
  const { identity, started } = await startDaemon(sleeper(folder));
  t.false(started);
  t.is(processState(identity), "alive");
  await stopProcess(identity, 5);
  await rm(folder, { recursive: true });
});

test("after kill -9 of the daemon the next start makes a new one", async (t) => {
  const folder = await temporaryFolder();
  const first = await startDaemon(sleeper(folder));
  process.kill(first.identity.pid, "SIGKILL");
  const second = await startDaemon(sleeper(folder));
  t.true(second.started);
  t.not(second.identity.pid, first.identity.pid);
  await stopProcess(second.identity, 5);
  await rm(folder, { recursive: true });
});

test("a process that got the daemon's old pid is neither taken for it nor signalled", async (t) => {
  const folder = await temporaryFolder();
  const stranger = spawn("sleep", ["300"]);
  const identity = processIdentity(stranger.pid as number);
  if (!identity) return t.fail("the stranger runs");
  const stale = { ...identity, start: "1" };
  await writeFile(daemonFiles(folder, "sleeper").identity, JSON.stringify(stale));
  t.is(await runningDaemon(folder, "sleeper"), null);
  t.is(await stopProcess(stale, 1), "gone");
  await sleep(50);
  t.is(processState(identity), "alive");
  stranger.kill("SIGKILL");
  await rm(folder, { recursive: true });
});

test("a daemon that ignores SIGTERM is killed after the grace time", async (t) => {
  const folder = await temporaryFolder();
  const script = "trap '' TERM; echo ready; while :; do sleep 1; done";
  const spec = { ...sleeper(folder), command: "/bin/sh", args: ["-c", script] };
  const { identity } = await startDaemon(spec);
  const { log } = daemonFiles(folder, "sleeper");
  while (!(await readFile(log, "utf8")).includes("ready")) await sleep(10);
  t.is(await stopProcess(identity, 0.2), "killed");
  await rm(folder, { recursive: true });
});

test("a command that does not exist ends in the log, with nothing left running", async (t) => {
  const folder = await temporaryFolder();
  const { identity } = await startDaemon({ ...sleeper(folder), command: "/no/such/command" });
  while (processState(identity) === "alive") await sleep(10);
  t.is(await runningDaemon(folder, "sleeper"), null);
  t.regex(await readFile(daemonFiles(folder, "sleeper").log, "utf8"), /no\/such\/command/);
  await rm(folder, { recursive: true });
});

test("nothing of the caller's environment reaches the daemon", async (t) => {
  const folder = await temporaryFolder();
  process.env.PROCESS_TEST_SECRET = "do not leak";
  const { identity } = await startDaemon(sleeper(folder));
  const environment = await readFile(`/proc/${identity.pid}/environ`, "utf8");
  t.false(environment.includes("PROCESS_TEST_SECRET"));
  await stopProcess(identity, 5);
  await rm(folder, { recursive: true });
});
