import { lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { type Call, readCalls, receiptOf, unsettledTries } from "../../activities/model/journal.ts";
import { readTrajectory } from "../../activities/store/trajectory.ts";
import { runningDaemon } from "../../scripts/stack/process.ts";
import { type Asked, type ModelServer, modelServer, type Reply } from "../model/server.ts";
import { bench, freshState, leftOvers, recordsOf, startBench } from "./bench.ts";

const KEY = "planted-4711-key";
const KEY_VARIABLE = "PLANTED_MODEL_KEY";

/** What a model would do with these repositories; the first command finds the key if a sandbox can see it. */
const COMMANDS = [
  `! cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep ${KEY_VARIABLE}`,
  "ls && cat no-such-file",
  "python3 -m venv /workspace/venv && /workspace/venv/bin/pip install -q pytest",
];

/** The next command, by how many the conversation holds already. */
function scripted({ body }: Asked): Reply {
  const done = body.messages.filter(({ role }) => role === "assistant").length;
  const command = COMMANDS[done];
  const next = {
    thought: "As planned.",
    action: command ? "run" : "finish",
    command: command ?? "",
    ready: true,
  };
  return { text: JSON.stringify(next) };
}

async function writeSuite(state: string, ids: readonly string[], server: ModelServer): Promise<string[]> {
  const tasks = [];
  for (const id of ids) {
    const path = join(state, "repositories", id);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "test_it.py"), "def test_it():\n    pass\n");
    tasks.push({ id, source: { kind: "directory", path }, gold: { ids: ["test_it.py::test_it"] } });
  }
  const suite = { suite: "tiny", title: "Tiny", source: "made by this test", tasks };
  await writeFile(join(state, "tiny.json"), JSON.stringify(suite));
  const price = { input: 1, cached: 0.1, output: 10, as_of: "2026-01-01", source: "made by this test" };
  const model = { model: "scripted-1", url: server.url, key_env: KEY_VARIABLE, price };
  await writeFile(join(state, "models.yaml"), JSON.stringify({ models: { scripted: model } }));
  return [
    ...["--suite", join(state, "tiny.json"), "--system", "react"],
    ...["--model", "scripted", "--models", join(state, "models.yaml"), "--id", "tiny"],
  ];
}

async function callsOf(state: string, cells: readonly string[]): Promise<Call[]> {
  const folder = join(state, "sweeps", "tiny");
  const all = await Promise.all(cells.map((cell) => readCalls({ folder, sweep: "tiny", cell, attempt: 1 })));
  return all.flat();
}

/** Files below the folder that hold the text; links to what tests share are left out. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || (await lstat(path)).size > 64 << 20) continue;
    if ((await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}

test.before(() => {
  process.env[KEY_VARIABLE] = KEY;
});

test.serial(
  "a model sets repositories up, and a worker's kill -9 costs one call more and nothing else",
  async (t) => {
    t.timeout(15 * 60_000);
    const { state, end } = await freshState();
    let kills = 0;
    const server = await modelServer(async (asked) => {
      if (asked.index === 4) {
        kills++;
        const worker = await runningDaemon(join(state, "stack"), "worker");
        if (worker !== null) process.kill(worker.pid, "SIGKILL");
      }
      return scripted(asked);
    });
    try {
      const line = await writeSuite(state, ["one", "two"], server);
      const ran = await bench(state, [...line, "--parallel", "2"]);
      t.is(ran.exitCode, 0, ran.all);
      t.is(kills, 1);
      const records = await recordsOf(state, "tiny");
      t.deepEqual(
        records.map(({ cell, attempt, ebsr, essr, self_claim, steps }) => [
          cell,
          attempt,
          ebsr,
          essr,
          self_claim,
          steps,
        ]),
        [
          ["one--react+scripted", 1, true, 1, true, 3],
          ["two--react+scripted", 1, true, 1, true, 3],
        ],
        ran.all,
      );
      const cells = records.map(({ cell }) => cell);
      const calls = await callsOf(state, cells);
      const receipts = calls.filter(({ entries }) => receiptOf(entries) !== null);
      const unsettled = calls.flatMap(({ entries }) => unsettledTries(entries));
      t.is(receipts.length, 8);
      t.true(server.asked.length >= 8 && server.asked.length <= 8 + unsettled.length);
      t.true(unsettled.length >= 1 && unsettled.length <= 2, "one for each call that was under way");
      t.is(
        records.reduce((sum, { cost }) => sum + cost.unsettled_calls, 0),
        unsettled.length,
      );
      for (const { tokens, cost } of records) {
        t.deepEqual(tokens, { setup: { input: 400, cached: 160, output: 80, reasoning: 20 } });
        t.true(Math.abs(cost.measured_usd - (4 * (60 + 4 + 200)) / 1e6) < 1e-12);
      }
      t.true(server.asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`));
      const folder = join(state, "sweeps", "tiny");
      const steps = await readTrajectory({ folder, sweep: "tiny", cell: cells[0] ?? "", attempt: 1 });
      t.deepEqual(
        steps.map(({ observation }) => observation?.exit),
        [0, 1, 0],
      );
      t.regex(server.asked.at(-1)?.body.messages.at(-3)?.content ?? "", /exit 1.*test_it\.py.*No such file/s);
      t.deepEqual(await filesWith(state, KEY), []);
      const inspected = await bench(state, ["inspect", "tiny/one--react+scripted"]);
      t.regex(inspected.all, /tokens {10}setup: 400 in \(160 cached\), 80 out/);
      await bench(state, ["down"]);
      t.deepEqual(await leftOvers(state), []);
    } finally {
      await server.close();
      await end();
    }
  },
);

test.serial(
  "a sweep that can't pay for another cell pauses, and goes on when it may spend more",
  async (t) => {
    t.timeout(15 * 60_000);
    const { state, end } = await freshState();
    const finish = { thought: "Nothing to do.", action: "finish", command: "", ready: false };
    const server = await modelServer(() => ({ text: JSON.stringify(finish) }));
    try {
      const line = await writeSuite(state, ["one", "two", "three"], server);
      const cli = startBench(state, [...line, "--sweep-tokens", "200", "--parallel", "1"], "pipe");
      let said = "";
      cli.stderr?.on("data", (chunk) => {
        said += chunk;
        if (said.includes("can't pay for another cell")) cli.kill("SIGINT");
      });
      await new Promise((resolve) => cli.once("exit", resolve));
      t.regex(said, /120 tokens of 200 tokens used.*raise --sweep-tokens/s);
      t.is(server.asked.length, 1);
      const ran = await bench(state, [...line, "--sweep-tokens", "1000", "--parallel", "1"]);
      t.is(ran.exitCode, 0, ran.all);
      t.is(server.asked.length, 3);
      const records = await recordsOf(state, "tiny");
      t.deepEqual(
        records.map(({ self_claim, ebsr }) => [self_claim, ebsr]),
        Array(3).fill([false, false]),
      );
    } finally {
      await server.close();
      await end();
    }
  },
);
