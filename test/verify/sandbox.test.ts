import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { type CollectionReport, verifyCollection } from "../../activities/verify/collect.ts";
import type { VerifyContext } from "../../activities/verify/context.ts";
import { verifyStatically } from "../../activities/verify/static-check.ts";
import { type TestReport, verifyTests } from "../../activities/verify/test.ts";
import { FAILS, PASSES, VARIED, VARIED_OUTCOMES } from "./fixtures.ts";
import { type Replayed, replayed } from "./replayed.ts";

const BUDGET = { collect: 60, tests: 120, test: 20 };

let made: Replayed;
test.before(async () => {
  made = await replayed("main");
  await made.run("main", "python3 -m venv /workspace/venv && /workspace/venv/bin/pip install -q pytest six");
});
test.after.always(() => made.driver.destroy(made.sandbox));

async function reportOf<T>(context: VerifyContext, digest: string): Promise<T> {
  return JSON.parse((await context.blobs.get(digest)).toString("utf8")) as T;
}

const outcomesOf = (report: TestReport) =>
  Object.fromEntries(report.outcomes.map(({ id, outcome }) => [id, outcome]));

test.serial("a varied repository is collected, run, looked at again and graded", async (t) => {
  const context = await made.repository(VARIED);
  const collection = await verifyCollection(context, BUDGET);
  t.like(collection, { ok: true, count: 26, errors: 0, detail: null });
  const collected = await reportOf<CollectionReport>(context, collection.report);
  t.deepEqual(collected.tests.toSorted(), Object.keys(VARIED_OUTCOMES).toSorted());
  const gold = { ids: ["test_varied.py::test_passes", "test_varied.py::test_fails", "gone.py::test"] };
  const result = await verifyTests(context, { tests: 120, test: 1 }, gold);
  t.like(result, { passed: 12, failed: 4, skipped: 6, errors: 4, flaky: 0, detail: null });
  t.deepEqual(result.gold, { verified: 3, passed: 1 });
  t.deepEqual(outcomesOf(await reportOf(context, result.report)), VARIED_OUTCOMES);
  const junit = await readFile(join(context.folder, "junit.xml"), "utf8");
  t.is(junit.match(/<testcase /g)?.length, 26);
});

test.serial("a test that hangs, crashes or leaves costs itself alone", async (t) => {
  const context = await made.repository({
    "test_a.py": `
import ctypes, os, signal, time
def test_1(): pass
def test_crashes(): ctypes.string_at(0)
def test_2(): pass
def test_leaves(): os._exit(0)
def test_3(): pass
def test_hangs():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    time.sleep(600)
def test_4(): pass
`,
  });
  const result = await verifyTests(context, { tests: 120, test: 1 }, { count: 4 });
  t.like(result, { passed: 4, failed: 0, errors: 3, detail: null });
  t.deepEqual(result.gold, { verified: 4, passed: 4 });
  const report = await reportOf<TestReport>(context, result.report);
  const details = Object.fromEntries(report.outcomes.map(({ id, detail }) => [id.split("_").pop(), detail]));
  t.regex(details.crashes ?? "", /^crashed: the process ended with exit code 139/);
  t.regex(details.leaves ?? "", /^crashed: the process ended with exit code 0/);
  t.regex(details.hangs ?? "", /^timeout/);
});

test.serial("a test that fails once is flaky and passed", async (t) => {
  const context = await made.repository({
    "test_a.py": `
import os, pathlib
def test_flaky():
    seen = pathlib.Path("/tmp/seen"); was = seen.exists(); seen.touch()
    assert was
def test_fails(): assert False
`,
  });
  const result = await verifyTests(context, BUDGET, { ids: ["test_a.py::test_flaky"] });
  t.like(result, { passed: 1, failed: 1, flaky: 1 });
  t.deepEqual(result.gold, { verified: 1, passed: 1 });
});

test.serial("the total limit ends the run and keeps what was done", async (t) => {
  const context = await made.repository({
    "test_a.py": "import time\ndef test_1(): pass\ndef test_2(): time.sleep(60)\ndef test_3(): pass\n",
  });
  const result = await verifyTests(context, { tests: 4, test: 60 }, null);
  t.like(result, { passed: 1, failed: 0, errors: 2, gold: null });
  t.regex(result.detail ?? "", /^1 tests never ran: the total limit of 4 s was reached$/);
});

test.serial("one module that can't be imported fails the collection, not the others' tests", async (t) => {
  const context = await made.repository({ "test_a.py": PASSES, "test_b.py": "import not_installed\n" });
  const collection = await verifyCollection(context, BUDGET);
  t.like(collection, { ok: false, errors: 1 });
  t.regex(collection.detail ?? "", /1 collection errors, the first in test_b.py: .*not_installed/);
  const result = await verifyTests(context, BUDGET, null);
  t.like(result, { passed: 2, errors: 1, detail: null });
});

test.serial("a conftest that leaves with 0 and a repository without tests are no collections", async (t) => {
  const leaves = await made.repository({ "conftest.py": "import os\nos._exit(0)\n", "test_a.py": PASSES });
  const left = await verifyCollection(leaves, BUDGET);
  t.like(left, { ok: false, count: 0 });
  t.regex(left.detail ?? "", /no pytest session began \(exit code 0\)/);
  t.like(await verifyTests(leaves, BUDGET, { count: 2 }), { passed: 0, gold: { verified: 2, passed: 0 } });
  const empty = await made.repository({ "a.py": "" });
  t.like(await verifyCollection(empty, BUDGET), { ok: false, count: 0, detail: "no tests collected" });
});

test.serial("a collection that hangs ends at its limit", async (t) => {
  const context = await made.repository({ "test_a.py": "import time\ntime.sleep(60)\n" });
  const collection = await verifyCollection(context, { collect: 3 });
  t.like(collection, { ok: false, detail: "collection took longer than 3 s" });
});

test.serial("a missing pytest is the environment's failure", async (t) => {
  const context = await made.repository({ "test_a.py": PASSES });
  await made.run(context.root, "rm -rf /workspace/venv");
  const collection = await verifyCollection(context, BUDGET);
  t.false(collection.ok);
  t.regex(collection.detail ?? "", /^pytest is not installed in this environment \(.*python3/);
});

test.serial("the artifact's own interpreter is used, and nothing else when it is not there", async (t) => {
  const context = await made.repository({ "test_a.py": PASSES });
  await made.run(context.root, "mv /workspace/venv /srv/env");
  t.true((await verifyCollection({ ...context, interpreter: "/srv/env" }, BUDGET)).ok);
  const none = { ...context, prefix: `${context.prefix}-none`, interpreter: "/nowhere/python" };
  const collection = await verifyCollection(none, BUDGET);
  t.regex(
    collection.detail ?? "",
    /^no Python interpreter in the environment \(looked at \/nowhere\/python\)$/,
  );
});

test.serial("variables that a set-up put into the activate script reach the tests", async (t) => {
  const context = await made.repository({
    "test_a.py": `
import os, shutil
def test_variables():
    assert os.environ["SETTING"] == "on" and os.environ["VIRTUAL_ENV"] == "/workspace/venv"
    assert shutil.which("python") == "/workspace/venv/bin/python" and os.getcwd() == "/workspace/repo"
`,
  });
  await made.run(context.root, "echo 'echo noise; export SETTING=on' >> /workspace/venv/bin/activate");
  t.like(await verifyTests(context, BUDGET, null), { passed: 1, failed: 0 });
});

test.serial("asked again under the same ids, verification runs nothing again", async (t) => {
  const context = await made.repository({
    "test_a.py": `def test_counts(): open("/tmp/count", "a").write("x")\n${FAILS}`,
  });
  const first = [await verifyCollection(context, BUDGET), await verifyTests(context, BUDGET, null)];
  const again = [await verifyCollection(context, BUDGET), await verifyTests(context, BUDGET, null)];
  t.deepEqual(again, first);
  t.is(await made.run(context.root, "cat /tmp/count"), "x");
});

test.serial("missing imports are counted whatever the repository tells pyright", async (t) => {
  const context = await made.repository({
    "src/package/__init__.py": "",
    "package_user.py":
      "import package, six, pytest, not_there\ntry:\n    import optional_one\nexcept ImportError:\n    pass\n",
    "pyrightconfig.json": '{"reportMissingImports": false, "exclude": ["**"]}',
    "pyproject.toml": "[tool.pyright]\nreportMissingImports = false\n",
    "typings/not_there.pyi": "",
  });
  t.deepEqual(await verifyStatically(context), { missing_imports: 2, pip_check: true, detail: null });
});

test.serial("pip check says what is broken, and nothing without pip", async (t) => {
  const broken = await made.repository({ "a.py": "import six\n" });
  await made.run(broken.root, "/workspace/venv/bin/pip uninstall -q -y pluggy");
  t.like(await verifyStatically(broken), { missing_imports: 0, pip_check: false });
  const without = await made.repository({ "a.py": "import six\n" });
  await made.run(without.root, "rm -rf /workspace/venv/lib/python3*/site-packages/pip*");
  t.deepEqual(await verifyStatically(without), {
    missing_imports: 0,
    pip_check: null,
    detail: "the environment has no pip",
  });
});

test.serial("a sandbox without the verifier's tools is the verifier's fault", async (t) => {
  const bare = await replayed("bare", { mounts: [] });
  try {
    const context = await bare.repository({ "test_a.py": PASSES });
    const error = await t.throwsAsync(verifyCollection(context, BUDGET), { instanceOf: CausedError });
    t.is(error?.failure, "verifier_fault");
    await bare.driver.destroy(bare.sandbox);
    const gone = { ...context, prefix: "gone" };
    const lost = await t.throwsAsync(verifyCollection(gone, BUDGET), { instanceOf: CausedError });
    t.is(lost?.failure, "sandbox_lost");
  } finally {
    await bare.driver.destroy(bare.sandbox);
  }
});
