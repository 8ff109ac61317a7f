import test from "ava";
import { environment, RELEASES, repository, runOnHost } from "./environments.ts";
import { VARIED, VARIED_OUTCOMES } from "./fixtures.ts";

const outcomesOf = (results: readonly { id: string; outcome: string }[]) =>
  Object.fromEntries(results.map(({ id, outcome }) => [id, outcome]));

for (const release of RELEASES) {
  test.serial(`pytest ${release.pytest} reports every kind of outcome once`, async (t) => {
    const env = await environment(release);
    const { session, exit, log } = await runOnHost(env, await repository(VARIED), { limit: 1 });
    t.is(session.pytest, release.pytest, log);
    t.deepEqual(outcomesOf(session.results), VARIED_OUTCOMES);
    t.is(session.results.length, session.items.length);
    t.deepEqual([session.exit, exit, session.running, session.error], [1, 1, null, null]);
  });

  test.serial(`pytest ${release.pytest} collects what it would run`, async (t) => {
    const env = await environment(release);
    const { session, exit } = await runOnHost(env, await repository(VARIED), { mode: "collect" });
    t.true(session.collected);
    t.deepEqual(session.items.toSorted(), Object.keys(VARIED_OUTCOMES).toSorted());
    t.deepEqual([session.exit, exit, session.results.length, session.seen], [0, 0, 0, 26]);
  });

  test.serial(
    `pytest ${release.pytest} names a module that can't be collected and runs the others`,
    async (t) => {
      const env = await environment(release);
      const repo = await repository({
        "test_bad.py": "def test_x(:\n",
        "test_worse.py": "import not_installed_anywhere\n",
        "test_good.py": "def test_one(): pass\n",
      });
      const collected = await runOnHost(env, repo, { mode: "collect" });
      t.deepEqual(
        collected.session.collectionErrors.map(({ id }) => id),
        ["test_bad.py", "test_worse.py"],
      );
      t.regex(collected.session.collectionErrors[1]?.text ?? "", /No module named 'not_installed_anywhere'/);
      t.is(collected.session.exit, 2);
      const run = await runOnHost(env, repo, {});
      t.deepEqual(outcomesOf(run.session.results), { "test_good.py::test_one": "passed" });
      t.is(run.session.collectionErrors.length, 2);
    },
  );

  test.serial(`pytest ${release.pytest} runs only, and skips, what it is asked to`, async (t) => {
    const env = await environment(release);
    const repo = await repository({
      "test_a.py": "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n",
    });
    const only = await runOnHost(env, repo, { only: ["test_a.py::test_c"] });
    t.deepEqual(outcomesOf(only.session.results), { "test_a.py::test_c": "passed" });
    const rest = await runOnHost(env, repo, { skip: ["test_a.py::test_c"] });
    t.deepEqual(outcomesOf(rest.session.results), {
      "test_a.py::test_a": "passed",
      "test_a.py::test_b": "passed",
    });
  });

  test.serial(`pytest ${release.pytest} without tests ends with status 5`, async (t) => {
    const env = await environment(release);
    const { session } = await runOnHost(env, await repository({ "a.py": "" }), { mode: "collect" });
    t.deepEqual([session.exit, session.items, session.collected], [5, [], true]);
  });
}
