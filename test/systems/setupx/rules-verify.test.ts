import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { readLook } from "../../../activities/systems/setupx/rules/look.ts";
import { problemsOf } from "../../../activities/systems/setupx/rules/problems.ts";
import { readVerdict, settledMessage } from "../../../activities/systems/setupx/rules/verdict.ts";
import { verifyByRules } from "../../../activities/systems/setupx/rules/verify.ts";
import { environment, RELEASES, repository } from "../../verify/environments.ts";

const run = promisify(execFile);
const ASKED = { task: "thing", language: "python", hint: "", looksLeft: 9, characters: 4_000 };

/** Lets the verifier look at a repository of these files, with a real pytest. */
async function verified(files: Readonly<Record<string, string>>, hint = "") {
  const release = RELEASES[3];
  if (release === undefined) throw new Error("no release of pytest to test with");
  const { python, variables } = await environment(release);
  const folder = await repository(files);
  await symlink(dirname(dirname(python)), join(folder, ".venv"));
  const first = verifyByRules({ ...ASKED, hint, looks: [] });
  const { stdout } = await run("bash", ["-c", first.command], {
    cwd: folder,
    env: { ...process.env, ...variables },
  });
  const result = { exit: 0, end: "exited" as const, seconds: 1, stdout, stderr: "" };
  return {
    report: readLook(stdout),
    verdict: verifyByRules({ ...ASKED, hint, looks: [{ command: first.command, result }] }),
  };
}

const GOOD = "def test_good():\n    pass\n";

test("tests that run are a success, and some that fail by their own logic change nothing", async (t) => {
  const many = Array.from({ length: 20 }, (_, index) => `def test_${index}(): pass\n`).join("");
  const { report, verdict } = await verified({ "test_a.py": `${many}def test_bad(): assert 1 == 2\n` });
  t.is(report?.counts.passed, 20);
  t.is(report?.counts.failed, 1);
  t.true(verdict.success, verdict.hint);
  t.is(verdict.collected, 21);
});

test("a module that stops the collection is named in Python's words, and told first", async (t) => {
  const { verdict } = await verified({
    "test_a.py": GOOD,
    "test_b.py": "import no_such_module\n",
    "test_c.py": "def test_one(no_such_fixture): pass\n",
  });
  t.false(verdict.success);
  t.regex(verdict.hint, /No module named 'no_such_module'/);
  t.deepEqual(readVerdict(verdict.hint), {
    ...{ collected: 2, passed: 1, failed: 1, uncollected: 1 },
    keys: ["module:no_such_module", "fixture:no_such_fixture"],
  });
});

test("what the agent could not mend is looked past, but for what can't be collected", async (t) => {
  const files = { "test_a.py": GOOD, "test_c.py": "def test_one(no_such_fixture): pass\n" };
  const hint = settledMessage(["fixture:no_such_fixture"]);
  t.true((await verified(files, hint)).verdict.success);
  const broken = { ...files, "test_b.py": "import no_such_module\n" };
  t.false((await verified(broken, settledMessage(["module:no_such_module"]))).verdict.success);
});

test("a pytest that does not start says why", async (t) => {
  const { report, verdict } = await verified({
    "test_a.py": GOOD,
    "pytest.ini": "[pytest]\naddopts = --no-such-option\n",
  });
  t.is(report?.counts.collected, 0);
  t.false(verdict.success);
  t.regex(verdict.hint, /unrecognized arguments: --no-such-option/);
});

test("tests that all fail for one reason are not run to their end", async (t) => {
  const tests =
    "import pytest\n@pytest.mark.parametrize('number', range(1000))\ndef test_one(number): open('/no/such/file')\n";
  const { report, verdict } = await verified({ "test_a.py": tests });
  t.is(report?.counts.collected, 1000);
  t.is(report?.counts.failed, 100);
  t.false(verdict.success);
});

test("a repository without tests is no success", async (t) => {
  const { verdict } = await verified({ "a.py": "" });
  t.false(verdict.success);
});

test("messages are told apart by what they speak of", (t) => {
  const counts = { collected: 9, passed: 5, failed: 4, error: 0, skipped: 0, collect: 0 };
  const keys = (text: string) =>
    problemsOf({
      ...{ exit: 1, seconds: 1, counts, skips: [], tail: "" },
      groups: [{ kind: "failed", count: 4, where: "a", text }],
    }).map(({ key }) => key);
  t.deepEqual(keys("FileNotFoundError: [Errno 2] No such file or directory: 'less'"), ["program:less"]);
  t.deepEqual(keys("/bin/sh: 1: msgfmt: not found"), ["program:msgfmt"]);
  t.regex(
    keys("(2002, \"Can't connect to local server through socket '/run/m.sock' (2)\")")[0] ?? "",
    /^service:/,
  );
  t.regex(keys('FATAL:  role "root" does not exist')[0] ?? "", /^database:/);
  t.deepEqual(keys("assert 1 == 2"), ["share"]);
});

test("a look that printed nothing of use is told as it is", (t) => {
  const result = {
    exit: 127,
    end: "exited" as const,
    seconds: 1,
    stdout: "",
    stderr: "bash: python3: not found",
  };
  const verdict = verifyByRules({ ...ASKED, looks: [{ command: "look", result }] });
  t.is(verdict.action, "finish");
  t.false(verdict.success);
  t.regex(verdict.hint, /python3: not found/);
});
