import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { readTrajectory } from "../../activities/store/trajectory.ts";
import type { TurnNote } from "../../activities/systems/setupx/note.ts";
import { bench, essence, freshState, recordsOf } from "./bench.ts";
import { disturb } from "./disturb.ts";

const SEED = Number(process.env.BENCH_TEST_SEED ?? Date.now() % 100_000);

/** One needs what nobody declares, under another name than it is imported by; the other needs nothing. */
const REPOSITORIES = {
  one: "import yaml\n\n\ndef test_it():\n    assert yaml.safe_load('[1]') == [1]\n",
  two: "def test_it():\n    pass\n",
};

const UNIT = {
  id: "yaml-missing",
  signals: {
    applicability: { lang: "python", os: [], python: [], tools: [] },
    ...{ regex: ["No module named '?yaml'?"], keywords: ["yaml"], situation_triggers: [] },
  },
  advice_nl: ["Its distribution is PyYAML."],
  atoms: [{ name: "pip_install", args: { name: "pyyaml" } }],
};

async function writeMatrix(state: string, retriever: string[]): Promise<void> {
  const axes = { xpu: ["on", "off"], retriever, knowledge: [join(state, "base.jsonl")] };
  const compare = retriever.includes("selector") ? [["setupx+base", "setupx+off"]] : [];
  const matrix = { matrix: "tiny", title: "Tiny", system: "setupx", axes, compare };
  await writeFile(join(state, "matrix.yaml"), JSON.stringify(matrix));
}

async function writeSuite(state: string): Promise<string[]> {
  const tasks = [];
  for (const [id, text] of Object.entries(REPOSITORIES)) {
    const path = join(state, "repositories", id);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "test_it.py"), text);
    tasks.push({ id, source: { kind: "directory", path }, gold: { ids: ["test_it.py::test_it"] } });
  }
  const suite = { suite: "tiny", title: "Tiny", source: "made by this test", tasks };
  await writeFile(join(state, "tiny.json"), JSON.stringify(suite));
  await writeFile(join(state, "base.jsonl"), `${JSON.stringify(UNIT)}\n`);
  return ["--suite", join(state, "tiny.json"), "--matrix", join(state, "matrix.yaml"), "--parallel", "2"];
}

/** What each cell's agent knew, chose and did, without times. */
async function doingsOf(state: string, sweep: string): Promise<Record<string, unknown>> {
  const folder = join(state, "sweeps", sweep);
  const doings: Record<string, unknown> = {};
  for (const { cell, attempt } of await recordsOf(state, sweep)) {
    const steps = await readTrajectory({ folder, sweep, cell, attempt });
    const decisions = join(folder, "runs", cell, String(attempt), "decisions");
    const notes = (await readdir(decisions)).filter((name) => name.startsWith("turn-")).sort();
    const turns = await Promise.all(
      notes.map(async (name) => JSON.parse(await readFile(join(decisions, name), "utf8")) as TurnNote),
    );
    doings[cell] = {
      steps: steps.map(({ step, part, move, observation }) => [step, part, move, observation?.exit]),
      turns: turns.map(({ thought, action, suggestions }) => [
        thought,
        action,
        suggestions.map(({ unit }) => unit),
      ]),
    };
  }
  return doings;
}

test("a matrix under kill -9 does what an undisturbed one does, and grows by arms", async (t) => {
  t.timeout(30 * 60_000);
  const { state, end } = await freshState();
  try {
    const line = await writeSuite(state);
    await writeMatrix(state, ["selector"]);
    const calm = await bench(state, [...line, "--id", "calm"]);
    t.is(calm.exitCode, 0, calm.all);
    t.regex(calm.stdout, /A setupx\+base against B setupx\+off on 2 repositories/);
    await disturb(state, [...line, "--id", "disturbed"], { kills: 3, seed: SEED });
    const [expected, found] = [await recordsOf(state, "calm"), await recordsOf(state, "disturbed")];
    t.log(`seed ${SEED}, attempts ${found.map((record) => record.attempt).join(" ")}`);
    t.deepEqual(found.map(essence), expected.map(essence));
    t.deepEqual(await doingsOf(state, "disturbed"), await doingsOf(state, "calm"));
    const built = Object.fromEntries(expected.map(({ cell, ebsr }) => [cell, ebsr]));
    t.like(built, { "one--setupx+base": true, "two--setupx+base": true, "two--setupx+off": true });

    await writeMatrix(state, ["selector", "direct"]);
    const grown = await bench(state, [...line, "--id", "calm"]);
    t.is(grown.exitCode, 0, grown.all);
    const after = await recordsOf(state, "calm");
    t.is(after.length, 6);
    t.deepEqual(
      after.filter(({ arm }) => !arm.includes("direct")),
      expected,
      "what was done is not done again",
    );
    await writeMatrix(state, ["direct"]);
    const shrunk = await bench(state, [...line, "--id", "calm"]);
    t.is(shrunk.exitCode, 2);
    t.regex(shrunk.stderr, /started otherwise/);
  } finally {
    await end();
  }
});
