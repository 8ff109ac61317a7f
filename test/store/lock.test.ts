import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { withLock } from "../../activities/store/lock.ts";
import { ownIdentity, processIdentity, processState } from "../../activities/store/process-identity.ts";

const lockModule = new URL("../../activities/store/lock.ts", import.meta.url).href;

async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "lock-test-"));
}

/** Another process that takes the lock, says "held" and keeps it until killed or told to go on. */
async function holder(t: ExecutionContext, lock: string): Promise<ChildProcess> {
  const code = `
    const { withLock } = await import(${JSON.stringify(lockModule)});
    await withLock(${JSON.stringify(lock)}, async () => {
      console.log("held");
      await new Promise((resolve) => process.stdin.once("data", resolve));
    });
    process.exit(0);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // A failed test must not leave it, which would keep the whole run waiting.
  t.teardown(() => void child.kill("SIGKILL"));
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return child;
}

test("calls of one process exclude each other and all get their turn", async (t) => {
  const folder = await temporaryFolder();
  const [lock, log] = [join(folder, "lock"), join(folder, "log")];
  const critical = async (n: number) => {
    await appendFile(log, `+${n}\n`);
    await sleep(2);
    await appendFile(log, `-${n}\n`);
  };
  await Promise.all(Array.from({ length: 12 }, (_, n) => withLock(lock, () => critical(n))));
  const lines = (await readFile(log, "utf8")).trim().split("\n");
  t.is(lines.length, 24);
  for (let i = 0; i < 24; i += 2) t.is(lines[i]?.slice(1), lines[i + 1]?.slice(1));
  t.deepEqual(await readdir(lock), []);
  await rm(folder, { recursive: true });
});

test("processes that contend never hold the lock together", async (t) => {
  const folder = await temporaryFolder();
  const [lock, log] = [join(folder, "lock"), join(folder, "log")];
  const code = `
    const { withLock } = await import(${JSON.stringify(lockModule)});
    const { appendFileSync } = await import("node:fs");
    for (let i = 0; i < 15; i++) await withLock(${JSON.stringify(lock)}, async () => {
      appendFileSync(${JSON.stringify(log)}, "+" + process.pid + "\\n");
      await new Promise((resolve) => setTimeout(resolve, 1));
      appendFileSync(${JSON.stringify(log)}, "-" + process.pid + "\\n");
    });`;
  const children = [1, 2, 3].map(() =>
    spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" }),
  );
  for (const [exit] of await Promise.all(children.map((child) => once(child, "exit")))) t.is(exit, 0);
  const lines = (await readFile(log, "utf8")).trim().split("\n");
  t.is(lines.length, 90);
  for (let i = 0; i < 90; i += 2) {
    t.is(lines[i]?.[0], "+");
    t.is(lines[i + 1], `-${lines[i]?.slice(1)}`);
  }
  await rm(folder, { recursive: true });
});

test("a lock is kept while its owner lives and taken over when the owner was killed with SIGKILL", async (t) => {
  const folder = await temporaryFolder();
  const lock = join(folder, "lock");
  const child = await holder(t, lock);
  let told: (pids: number[]) => void = () => undefined;
  const seen = new Promise<number[]>((resolve) => {
    told = resolve;
  });
  const waiting = withLock(lock, async () => "mine", { waiting: told });
  t.deepEqual(await seen, [child.pid]);
  t.is(await Promise.race([waiting, sleep(400, "still waiting")]), "still waiting");
  child.kill("SIGKILL");
  t.is(await waiting, "mine");
  t.deepEqual(await readdir(lock), []);
  await rm(folder, { recursive: true });
});

test("a claim whose pid now belongs to another process, or to an earlier boot, is dead", async (t) => {
  const folder = await temporaryFolder();
  const lock = join(folder, "lock");
  const own = ownIdentity();
  await withLock(lock, async () => t.is((await readdir(lock)).length, 1));
  await writeFile(join(lock, `${own.pid}_${Number(own.start) - 1}_${own.namespace}_${own.boot}_abc`), "");
  await writeFile(join(lock, `${own.pid}_${own.start}_${own.namespace}_another-boot_abc`), "");
  t.is(await withLock(lock, async () => "taken"), "taken");
  t.deepEqual(await readdir(lock), []);
  await rm(folder, { recursive: true });
});

test("an owner in another pid namespace holds the lock as long as its claim is fresh", async (t) => {
  const folder = await temporaryFolder();
  const lock = join(folder, "lock");
  const own = ownIdentity();
  await withLock(lock, async () => undefined);
  const claim = join(lock, `1_5_1_${own.boot}_abc`);
  await writeFile(claim, "");
  const refused = withLock(lock, async () => "taken", { signal: AbortSignal.timeout(300) });
  await t.throwsAsync(refused);
  await utimes(claim, new Date(0), new Date(0));
  t.is(await withLock(lock, async () => "taken"), "taken");
  await rm(folder, { recursive: true });
});

test("an aborted wait throws and leaves no claim; a failing function gives the lock back", async (t) => {
  const folder = await temporaryFolder();
  const lock = join(folder, "lock");
  const child = await holder(t, lock);
  await t.throwsAsync(withLock(lock, async () => "never", { signal: AbortSignal.timeout(100) }));
  t.is((await readdir(lock)).length, 1);
  child.stdin?.write("go\n");
  await once(child, "exit");
  await t.throwsAsync(
    withLock(lock, () => Promise.reject(new Error("boom"))),
    { message: "boom" },
  );
  t.deepEqual(await readdir(lock), []);
  await rm(folder, { recursive: true });
});

test("a stranger's file in the lock is an error that names it, never ignored", async (t) => {
  const folder = await temporaryFolder();
  const lock = join(folder, "lock");
  await withLock(lock, async () => writeFile(join(lock, "notes.txt"), ""));
  await t.throwsAsync(
    withLock(lock, async () => undefined),
    { message: /notes\.txt/ },
  );
  await rm(folder, { recursive: true });
});

test("a process that ended, also as a zombie, is dead", async (t) => {
  const child = spawn("sleep", ["60"]);
  const identity = processIdentity(child.pid as number);
  t.truthy(identity);
  if (!identity) return;
  t.is(processState(identity), "alive");
  t.is(processState({ ...identity, start: "1" }), "dead");
  child.kill("SIGKILL");
  await once(child, "exit");
  t.is(processState(identity), "dead");
});
