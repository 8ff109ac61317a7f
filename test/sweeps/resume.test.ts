import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { runningDaemon } from "../../scripts/stack/process.ts";
import { bench, freshState, leftOvers, recordsOf, startBench } from "./bench.ts";

/** Repositories without dependencies: each run is a few seconds of sleep, and graded as not built. */
async function writeSuite(state: string): Promise<string[]> {
  const tasks = [];
  for (const id of ["a", "b", "c", "d"]) {
    await mkdir(join(state, "repositories", id), { recursive: true });
    await writeFile(join(state, "repositories", id, "test_it.py"), "def test_it():\n    pass\n");
    tasks.push({ id, source: { kind: "directory", path: join(state, "repositories", id) } });
  }
  const [suite, script] = [join(state, "slow.json"), join(state, "slow.sh")];
  await writeFile(
    suite,
    JSON.stringify({ suite: "slow", title: "Slow", source: "made by this test", tasks }),
  );
  await writeFile(script, "echo ran >> /workspace/count; sleep 3; test $(wc -l < /workspace/count) = 1\n");
  return ["--suite", suite, "--system", "script", "--script", script, "--parallel", "1", "--id", "slow"];
}

async function firstRecord(state: string): Promise<string> {
  const file = join(state, "sweeps/slow/runs/a--script/1/record.json");
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => null);
    if (text !== null) return text;
    await sleep(200);
  }
}

async function runningParts(state: string): Promise<string[]> {
  const parts = [];
  for (const [folder, name] of [
    ["stack", "worker"],
    ["temporal", "temporal"],
  ] as const) {
    if ((await runningDaemon(join(state, folder), name)) !== null) parts.push(name);
  }
  return parts;
}

test.serial("Ctrl-C stops a sweep and what it started, and the line that it prints goes on", async (t) => {
  t.timeout(10 * 60_000);
  const { state, end } = await freshState();
  try {
    const line = await writeSuite(state);
    const cli = startBench(state, line, "pipe");
    let said = "";
    cli.stderr?.on("data", (chunk) => {
      said += chunk;
    });
    await firstRecord(state);
    cli.kill("SIGINT");
    const code = await new Promise((resolve) => cli.once("exit", resolve));
    t.is(code, 1);
    t.regex(said, /sweep slow is paused; go on with: pnpm bench resume slow/);
    t.deepEqual(await runningParts(state), []);
    const resumed = await bench(state, ["resume", "slow"]);
    t.is(resumed.exitCode, 0, resumed.all);
    const records = await recordsOf(state, "slow");
    t.deepEqual(
      records.map(({ task, attempt, steps }) => [task, attempt, steps]),
      [
        ["a", 1, 1],
        ["b", 1, 1],
        ["c", 1, 1],
        ["d", 1, 1],
      ],
    );
    t.deepEqual(await leftOvers(state), []);
  } finally {
    await end();
  }
});

test.serial("a sweep goes on from its folder alone, and never runs a finished cell again", async (t) => {
  t.timeout(10 * 60_000);
  const { state, end } = await freshState();
  try {
    const line = await writeSuite(state);
    t.is((await bench(state, [...line, "--detach"])).exitCode, 0);
    const first = await firstRecord(state);
    for (const [folder, name] of [
      ["stack", "worker"],
      ["temporal", "temporal"],
    ] as const) {
      const identity = await runningDaemon(join(state, folder), name);
      if (identity !== null) process.kill(identity.pid, "SIGKILL");
    }
    await rm(join(state, "temporal"), { recursive: true });
    const resumed = await bench(state, ["resume", "slow"]);
    t.is(resumed.exitCode, 0, resumed.all);
    t.is((await recordsOf(state, "slow")).length, 4);
    t.is(await firstRecord(state), first);
    await t.throwsAsync(stat(join(state, "sweeps/slow/runs/a--script/2")));
    await bench(state, ["down"]);
    t.deepEqual(await leftOvers(state), []);

    const changed = await bench(state, [...line, "--test-seconds", "7"]);
    t.is(changed.exitCode, 2);
    t.regex(changed.all, /sweep slow was started otherwise \(budget\.test: 300 → 7\)/);

    const again = await bench(state, [...line, "--json"]);
    t.is(again.exitCode, 0, again.all);
    t.is(await firstRecord(state), first);
  } finally {
    await end();
  }
});

test.serial(
  "a running sweep is paused, changed, watched and cancelled from another command line",
  async (t) => {
    t.timeout(10 * 60_000);
    const { state, end } = await freshState();
    try {
      const line = await writeSuite(state);
      t.is((await bench(state, [...line, "--detach"])).exitCode, 0);
      await firstRecord(state);
      t.is((await bench(state, ["pause", "slow"])).exitCode, 0);
      t.regex((await bench(state, ["status", "slow"])).all, /slow\tpaused\tslow\tscript\t4\t/);
      t.is((await bench(state, ["set", "slow", "parallel=0"])).exitCode, 2);
      t.is((await bench(state, ["set", "slow", "parallel=2"])).exitCode, 0);
      t.is((await bench(state, ["unpause", "slow"])).exitCode, 0);
      const cancelled = await bench(state, ["cancel", "slow"]);
      t.is(cancelled.exitCode, 0, cancelled.all);
      await bench(state, ["down"]);
      t.deepEqual(await leftOvers(state), []);
      const inspected = await bench(state, ["inspect", "slow/a--script"]);
      t.regex(inspected.all, /\$ echo ran >> \/workspace\/count/);
      t.regex(inspected.all, /EBSR, ESSR {6}not built/);
    } finally {
      await end();
    }
  },
);
