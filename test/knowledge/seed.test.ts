import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import test from "ava";
import { fillAtom, placeholdersOf } from "../../activities/knowledge/atoms/fill.ts";
import { parseAtom } from "../../activities/knowledge/atoms/parse.ts";
import { renderAtoms } from "../../activities/knowledge/atoms/render.ts";
import { memoryBase, openBase, SEED } from "../../activities/knowledge/base.ts";
import { lexicalEmbedding } from "../../activities/knowledge/embedding/lexical.ts";
import { formatUnits, readUnits } from "../../activities/knowledge/jsonl.ts";
import { search } from "../../activities/knowledge/search/search.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { SUITE_NAMES } from "../../benchmarks/registry.ts";

const FOLDER = new URL("../../benchmarks/knowledge/", import.meta.url);
const FILE = fileURLToPath(new URL("seed.jsonl", FOLDER));
const { units } = await readUnits(FILE);
const messages: { unit: string; message: string }[] = (
  await readFile(new URL("messages.jsonl", FOLDER), "utf8")
)
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));

/**
 * Words that are also the names of repositories: tools that units are about, and common words. Besides these, a unit may
 * name what its own atoms install.
 */
const TOOLS = "asdf distutils django git keyring mypy node numpy pip pixi poetry pytest ruff rust spacy sql";
const WORDS = "access client come common core create me platform plugins rewrite security spelling textual";
const SPOKEN_OF = new Set(`${TOOLS} ${WORDS}`.split(" "));

test("the seed base has well-formed units of its own, in order, none of which a machine wrote over", async (t) => {
  t.true(units.length >= 150);
  t.is(await readFile(FILE, "utf8"), formatUnits(units));
  for (const unit of units) {
    t.is(unit.provenance.made, "seed", unit.id);
    t.deepEqual(unit.telemetry, { hits: 0, successes: 0, failures: 0 }, unit.id);
    t.true(unit.advice_nl.length > 0 && unit.signals.regex.length > 0 && unit.atoms.length > 0, unit.id);
    for (const atom of unit.atoms) {
      const captures = Object.fromEntries(placeholdersOf(atom).map((name) => [name, "some_name"]));
      const filled = fillAtom(atom, captures);
      t.false(filled === null || "wrong" in parseAtom(filled), `${unit.id}: ${atom.name}`);
    }
  }
});

test("each unit is among the first three for every message that it answers, and its atoms do something there", async (t) => {
  const base = await openBase(SEED, { stateFolder: "/nowhere" });
  const signals = await base.signals();
  t.deepEqual(signals.refused, []);
  t.deepEqual(
    units.map(({ id }) => id).filter((id) => !messages.some(({ unit }) => unit === id)),
    [],
    "units without a message",
  );
  for (const { unit, message } of messages) {
    t.true(signals.match(message).has(unit), `${unit} has a pattern for ${message}`);
    const found = await search(base, { text: message, language: "python" }, { profile: "default", limit: 3 });
    const candidate = found.find((it) => it.unit.id === unit);
    t.truthy(candidate, `${unit} for ${message}; found ${found.map((it) => it.unit.id).join(", ")}`);
    const { commands, environment, left } = renderAtoms(candidate?.unit.atoms ?? [], {
      captures: candidate?.captures ?? {},
    });
    t.true(commands.length + Object.keys(environment).length > 0, `${unit} for ${message}`);
    t.deepEqual(left, [], `${unit} for ${message}`);
  }
  await base.store.close();
});

test("a message in the midst of other output is answered as well", async (t) => {
  const noise = Array.from(
    { length: 60 },
    (_, line) => `Collecting dependency-${line}>=1.${line} (from -r list)`,
  );
  const base = await memoryBase("seed", units, lexicalEmbedding);
  const missed: string[] = [];
  for (const { unit, message } of messages.filter((_, index) => index % 5 === 0)) {
    const text = ["$ python3 -m pip install -e .", ...noise, message, "WARNING: a notice about pip"].join(
      "\n",
    );
    const found = await search(base, { text, language: "python" }, { profile: "default", limit: 10 });
    if (!found.some((it) => it.unit.id === unit)) missed.push(unit);
  }
  t.deepEqual(missed, []);
  await base.store.close();
});

test("no unit names a repository of a suite, but for what it installs and the tools that it is about", async (t) => {
  const names = new Map<string, string>();
  for (const name of SUITE_NAMES) {
    const { suite } = await loadSuite(name);
    for (const { id } of suite.tasks) names.set(id.split("/").at(-1)?.toLowerCase() ?? id, id);
  }
  t.true(names.size > 1000);
  const found = units.flatMap((unit) => {
    const installs = installedBy(unit);
    const isFix = (word: string) => installs.some((name) => name === word || name.startsWith(`${word}-`));
    const words = new Set(textOf(unit).match(/[a-z0-9][a-z0-9._-]*[a-z0-9]/g));
    const named = [...words].filter((word) => names.has(word) && !isFix(plain(word)) && !SPOKEN_OF.has(word));
    const whole = [...names.values()].filter(
      (id) => id.includes("/") && textOf(unit).includes(id.toLowerCase()),
    );
    return [...named, ...whole].map((name) => `${unit.id}: ${name}`);
  });
  t.deepEqual(found, []);
});

function textOf({ id, signals, advice_nl, atoms }: Unit): string {
  return JSON.stringify({ id, signals, advice_nl, atoms }).toLowerCase();
}

function installedBy({ atoms }: Unit): string[] {
  return atoms
    .filter(({ name }) => /^pip_|^or_upgrade/.test(name))
    .flatMap(({ args }) => [args.name, args.packages].flat())
    .map((name) => plain(String(name).replace(/[<>=~[].*$/, "")));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}
