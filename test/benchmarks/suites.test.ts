import { readdir } from "node:fs/promises";
import test from "ava";
import { loadSuite } from "../../benchmarks/load.ts";
import { SUITE_NAMES } from "../../benchmarks/registry.ts";

const COUNTS: Record<(typeof SUITE_NAMES)[number], number> = {
  "envbench-100": 100,
  "envbench-329": 329,
  "envbench-jvm-665": 665,
  "executionagent-50": 50,
  "graph2env-200": 200,
  "installamatic-40": 40,
  "pypi-sdist": 42,
  "pypi-smoke": 9,
  "rat-java-50": 50,
  "rat-node-50": 50,
  "rat-rust-50": 50,
  "repo2run-122": 122,
  "repo2run-420": 420,
};

test("Every file in suites/ is registered and every registered suite has a file", async (t) => {
  const files = await readdir(new URL("../../benchmarks/suites", import.meta.url));
  const names = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -5));
  t.deepEqual(names.sort(), [...SUITE_NAMES].sort());
});

for (const name of SUITE_NAMES) {
  test(`The suite ${name} loads whole, under its own name, with a digest that does not change`, async (t) => {
    const first = await loadSuite(name);
    t.is(first.suite.suite, name);
    t.is(first.suite.tasks.length, COUNTS[name]);
    t.regex(first.digest, /^[0-9a-f]{64}$/);
    t.is((await loadSuite(name)).digest, first.digest);
    for (const note of first.suite.notes) t.regex(note, /[^.]\.$/);
  });
}

test("envbench-100 has the tiers of the released file", async (t) => {
  const { suite } = await loadSuite("envbench-100");
  const tiers = { low: 0, medium: 0, high: 0 };
  for (const { tier } of suite.tasks) if (tier) tiers[tier]++;
  t.deepEqual(tiers, { low: 48, medium: 32, high: 20 });
});

test("Every task of pypi-sdist has as many distinct gold ids as its facts say, a recipe and a naive result", async (t) => {
  const { suite, goldIds } = await loadSuite("pypi-sdist");
  for (const task of suite.tasks) {
    const ids = await goldIds(task);
    t.is(new Set(ids).size, task.facts.gold_tests as number, task.id);
    t.is(ids?.length, task.facts.gold_tests as number, task.id);
    t.truthy(task.oracle?.script);
    t.truthy(task.naive);
  }
});

test("Every file in suites/gold belongs to a task", async (t) => {
  const { suite } = await loadSuite("pypi-sdist");
  const used = suite.tasks.map((task) => (task.gold && "file" in task.gold ? task.gold.file : ""));
  const files = await readdir(new URL("../../benchmarks/suites/gold", import.meta.url));
  t.deepEqual(files.sort(), used.map((file) => file.split("/").at(-1) ?? "").sort());
});

test("pypi-smoke shares the tasks of pypi-sdist and covers every tier", async (t) => {
  const [smoke, whole] = await Promise.all([loadSuite("pypi-smoke"), loadSuite("pypi-sdist")]);
  for (const task of smoke.suite.tasks)
    t.deepEqual(
      task,
      whole.suite.tasks.find(({ id }) => id === task.id),
    );
  t.deepEqual(new Set(smoke.suite.tasks.map(({ tier }) => tier)), new Set(["low", "medium", "high"]));
  t.not(smoke.digest, whole.digest);
});

test("A task without a pinned revision says so instead of naming one", async (t) => {
  const { suite } = await loadSuite("installamatic-40");
  const unpinned = suite.tasks.filter(({ source }) => source.kind === "git" && source.revision === null);
  t.deepEqual(unpinned.map(({ id }) => id).sort(), ["home-assistant/core", "pymc-devs/pymc"]);
});

test("Tasks whose suite gives only the number of gold tests have no ids", async (t) => {
  const { suite, goldIds } = await loadSuite("graph2env-200");
  const counted = suite.tasks.filter(({ gold }) => gold !== null);
  t.is(counted.length, 192);
  for (const task of counted) t.is(await goldIds(task), null);
});
