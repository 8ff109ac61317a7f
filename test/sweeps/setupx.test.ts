import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { readTrajectory } from "../../activities/store/trajectory.ts";
import type { TurnNote } from "../../activities/systems/setupx/note.ts";
import { type Asked, modelServer, type Reply } from "../model/server.ts";
import { bench, freshState, recordsOf } from "./bench.ts";

/** Passes only with a package that nobody declares, and a variable. */
const TEST = `import os

import yaml


def test_it():
    assert yaml.safe_load("[1]") == [1]
    assert os.environ["GREETING"] == "hello from /root"
`;

const PYTEST = "/workspace/venv/bin/python -m pytest -q";

/** What a model would do, turn by turn: each of the six actions, some in vain. */
const TURNS = [
  { action: "SHELL_COMMAND", command: "python3 -m venv /workspace/venv" },
  { action: "SHELL_COMMAND", command: "/workspace/venv/bin/python -m pip install -q pytest" },
  { action: "SET_ENV", name: "GREETING", value: "hello from $HOME" },
  { action: "SHELL_COMMAND", command: PYTEST },
  { action: "TRY_XPU_SUGGESTION", unit: "wrong" },
  { action: "TRY_XPU_SUGGESTION", unit: "right" },
  { action: "SHELL_COMMAND", command: 'touch /workspace/junk && test -n "$GREETING"' },
  { action: "ROLLBACK_ENV", frames: 1 },
  { action: "TRY_XPU_SUGGESTION", unit: "right" },
  { action: "SHELL_COMMAND", command: "! test -e /workspace/junk" },
  { action: "SHELL_COMMAND", command: "/workspace/venv/bin/python -m pip install -q pyyaml" },
  { action: "VERIFY" },
] as const;

const EMPTY = { command: "", unit: "", name: "", value: "", frames: 0, ready: false, message: "" };

function answerTo({ body }: Asked, turns: readonly object[]): Reply {
  const role = (body.response_format as { json_schema?: { name: string } } | undefined)?.json_schema?.name;
  const done = body.messages.filter((message) => message.role === "assistant").length;
  const answers: Record<string, unknown> = {
    setup: { thought: `Turn ${done + 1}.`, ...EMPTY, ...turns[done] },
    situation: { summary: "A module is missing." },
    selector: {
      selected: ["wrong", "right"].map((unit) => ({ unit, reason: "It is about it.", confidence: 0.5 })),
    },
    verifier: {
      ...{ thought: "", action: done === 0 ? "run" : "finish", command: "", success: done > 0 },
      ...{ hint: "", framework: "pytest", collected: 1 },
      ...(done === 0 ? { command: `touch /workspace/looked; ${PYTEST}` } : {}),
    },
  };
  return { text: JSON.stringify(answers[role ?? ""] ?? {}) };
}

function unit(id: string, name: string) {
  return {
    id,
    signals: {
      applicability: { lang: "python", os: [], python: [], tools: [] },
      ...{ regex: ["No module named 'yaml'"], keywords: ["yaml"], situation_triggers: [] },
    },
    advice_nl: [`Install ${name}.`],
    atoms: [{ name: "pip_install", args: { name, flags: ["-q"] } }],
  };
}

async function writeSuite(state: string, url: string): Promise<string[]> {
  const path = join(state, "repositories", "one");
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "test_it.py"), TEST);
  const task = { id: "one", source: { kind: "directory", path }, gold: { ids: ["test_it.py::test_it"] } };
  const suite = { suite: "tiny", title: "Tiny", source: "made by this test", tasks: [task] };
  await writeFile(join(state, "tiny.json"), JSON.stringify(suite));
  const base = [unit("wrong", "six"), unit("right", "pyyaml")].map((one) => JSON.stringify(one));
  await writeFile(join(state, "two.jsonl"), `${base.join("\n")}\n`);
  return [
    ...["--suite", join(state, "tiny.json"), "--system", "setupx", "--knowledge", join(state, "two.jsonl")],
    ...["--model", "scripted", "--model-url", url, "--id", "tiny"],
  ];
}

test.serial("each of the six actions does to the environment what it says, and no more", async (t) => {
  t.timeout(10 * 60_000);
  const { state, end } = await freshState();
  const server = await modelServer(async (asked) => answerTo(asked, TURNS));
  try {
    const ran = await bench(state, await writeSuite(state, server.url));
    t.is(ran.exitCode, 0, ran.all);
    const [record] = await recordsOf(state, "tiny");
    t.like(record, { ebsr: true, essr: 1, self_claim: true, steps: TURNS.length }, ran.all);
    const key = {
      folder: join(state, "sweeps", "tiny"),
      sweep: "tiny",
      cell: record?.cell ?? "",
      attempt: 1,
    };
    const turns = await Promise.all(TURNS.map((_, index) => noteOf(key, index + 1)));
    t.deepEqual(turns[4]?.candidates[0]?.commands, ["/workspace/venv/bin/python -m pip install -q six"]);
    t.regex(turns[8]?.refusal ?? "", /right: (?:not among|was tried)/);
    const moves = (await readTrajectory(key)).map(({ step, move }) => `${step} ${move.kind}`);
    t.true(moves.includes("5 pop"), "the wrong one is taken back: what had failed failed alike");
    t.false(moves.includes("6 pop"), "the right one is kept");
    t.true(moves.includes("8 pop"));
    const script = await readFile(join(key.folder, "runs", key.cell, "1", "artifact", "setup.sh"), "utf8");
    t.notRegex(script, /six|junk &&|looked/);
    t.is(script.match(/pyyaml/g)?.length, 1, "what was taken back is in no artifact");
    t.regex(script, /export GREETING='hello from \/root'/);
  } finally {
    await server.close();
    await end();
  }
});

test.serial("of candidates that are tried at once the one that works is kept", async (t) => {
  t.timeout(10 * 60_000);
  const { state, end } = await freshState();
  const turns = [...TURNS.slice(0, 5), { action: "VERIFY" }];
  const server = await modelServer(async (asked) => answerTo(asked, turns));
  try {
    const ran = await bench(state, [...(await writeSuite(state, server.url)), "--speculate", "2"]);
    t.is(ran.exitCode, 0, ran.all);
    const [record] = await recordsOf(state, "tiny");
    t.like(record, { ebsr: true, essr: 1, steps: turns.length }, ran.all);
    const key = {
      folder: join(state, "sweeps", "tiny"),
      sweep: "tiny",
      cell: record?.cell ?? "",
      attempt: 1,
    };
    const script = await readFile(join(key.folder, "runs", key.cell, "1", "artifact", "setup.sh"), "utf8");
    t.notRegex(script, /six/);
    t.is(script.match(/pyyaml/g)?.length, 1);
  } finally {
    await server.close();
    await end();
  }
});

interface Key {
  folder: string;
  cell: string;
}

async function noteOf({ folder, cell }: Key, turn: number): Promise<TurnNote> {
  const file = join(folder, "runs", cell, "1", "decisions", `turn-${turn}.json`);
  return JSON.parse(await readFile(file, "utf8"));
}
