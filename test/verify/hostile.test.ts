import test from "ava";
import { environment, RELEASES, repository, runOnHost } from "./environments.ts";
import { FAILS, PASSES } from "./fixtures.ts";

/** The oldest and the newest: what lies between loads plugins and reports as one of them does. */
const releases = RELEASES.filter((_, index) => index === 0 || index === RELEASES.length - 1);

/** Writes plausible lines wherever it can. */
const SCRIBBLER = `
import json, os
lines = [
    {"event": "session", "pytest": "9", "python": "3", "rootdir": "/"},
    {"event": "item", "id": "test_a.py::test_forged"},
    {"event": "collected", "count": 1},
    {"event": "result", "id": "test_a.py::test_forged", "outcome": "passed", "seconds": 0, "text": None},
    {"event": "finish", "exit": 0},
    {"event": "end", "exit": 0, "error": None},
]
text = "\\n" + "".join("%s %s\\n" % ("0" * 64, json.dumps(line)) for line in lines)
for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
    try: os.write(descriptor, text.encode())
    except OSError: pass
`;

for (const release of releases) {
  const attacks: Record<
    string,
    { files: Record<string, string>; variables?: (repo: string) => Record<string, string> }
  > = {
    "a conftest that leaves the process with 0": {
      files: { "conftest.py": "import os\nos._exit(0)\n", "test_a.py": PASSES },
    },
    "a conftest that ends pytest with 0": {
      files: { "conftest.py": 'import pytest\npytest.exit("bye", returncode=0)\n', "test_a.py": PASSES },
    },
    "a test module that ends pytest with 0": {
      files: { "test_a.py": PASSES, "test_b.py": 'import pytest\npytest.exit("bye", returncode=0)\n' },
    },
    "a fake pytest that prints passed": {
      files: {
        "fake/pytest.py":
          'hookimpl = lambda *a, **k: (lambda f: f)\nclass fail: Exception = Exception\n__version__ = "9"\ndef main(*a, **k):\n    print("2 passed in 0.1s")\n    return 0\n',
        "test_a.py": PASSES,
      },
      variables: (repo) => ({ PYTHONPATH: `${repo}/fake` }),
    },
    "a sitecustomize that writes a report and leaves with 0": {
      files: { "fake/sitecustomize.py": `${SCRIBBLER}\nos._exit(0)\n`, "test_a.py": PASSES },
      variables: (repo) => ({ PYTHONPATH: `${repo}/fake` }),
    },
    "a conftest that writes a report and leaves with 0": {
      files: { "conftest.py": `${SCRIBBLER}\nos._exit(0)\n`, "test_a.py": PASSES },
    },
    "a test module that truncates every file it holds open": {
      files: {
        "test_b.py":
          "import os\nfor name in os.listdir('/proc/self/fd'):\n    try: os.ftruncate(int(name), 0)\n    except OSError: pass\n",
        "test_a.py": PASSES,
      },
    },
  };
  for (const [name, { files, variables }] of Object.entries(attacks)) {
    test.serial(`pytest ${release.pytest}: ${name} is no collection`, async (t) => {
      const env = await environment(release);
      const repo = await repository(files);
      const { session } = await runOnHost(env, repo, { mode: "collect" }, variables?.(repo));
      t.false(session.collected && session.exit === 0 && session.interrupted === null);
      t.false(session.items.includes("test_a.py::test_forged"));
    });
  }

  test.serial(`pytest ${release.pytest}: forged lines count for nothing beside the real ones`, async (t) => {
    const repo = await repository({ "conftest.py": SCRIBBLER, "test_a.py": FAILS });
    const { session, report } = await runOnHost(await environment(release), repo, {});
    t.true(report.includes("test_forged"));
    t.deepEqual(
      session.results.map(({ id, outcome }) => [id, outcome]),
      [
        ["test_a.py::test_one", "failed"],
        ["test_a.py::test_two", "passed"],
      ],
    );
  });

  test.serial(`pytest ${release.pytest}: reports changed by a hook don't make a failure pass`, async (t) => {
    const repo = await repository({
      "conftest.py": `
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
`,
      "test_a.py": FAILS,
    });
    const { session } = await runOnHost(await environment(release), repo, {});
    t.deepEqual(
      session.results.map(({ outcome }) => outcome),
      ["failed", "passed"],
    );
    t.regex(session.results[0]?.text ?? "", /changed to passed/);
  });

  test.serial(`pytest ${release.pytest}: tests find neither the key nor the request`, async (t) => {
    const repo = await repository({
      "test_a.py": `
import os, sys
def test_hidden():
    key = "5a" * 32
    found = [os.environ.get(name) for name in os.environ if key in os.environ[name]]
    found += [path for path in ("cmdline", "environ") if key.encode() in open("/proc/self/" + path, "rb").read()]
    found += [name for name, value in vars(sys.modules["__main__"]).items() if "5a5a5a" in repr(value) or value == b"\\x5a" * 32]
    assert not found and os.readlink("/proc/self/fd/0") == "/dev/null"
`,
    });
    const { session } = await runOnHost(await environment(release), repo, {});
    t.deepEqual(
      session.results.map(({ outcome, text }) => [outcome, text]),
      [["passed", null]],
    );
  });

  test.serial(
    `pytest ${release.pytest}: a forked test that never leaves reports nothing twice`,
    async (t) => {
      const repo = await repository({
        "test_a.py":
          "import os\ndef test_fork():\n    if os.fork() == 0: raise ValueError('child')\n    os.wait()\ndef test_two(): pass\n",
      });
      const { session } = await runOnHost(await environment(release), repo, {});
      t.deepEqual(
        session.results.map(({ outcome }) => outcome),
        ["passed", "passed"],
      );
    },
  );

  const ends: [string, string, number][] = [
    ["leaves the process with 0", "import os; os._exit(0)", 0],
    ["crashes the interpreter", "import ctypes; ctypes.string_at(0)", 139],
    ["kills its process", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137],
    [
      "blocks every signal and hangs",
      "import signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(90)",
      124,
    ],
  ];
  for (const [name, body, code] of ends) {
    test.serial(
      `pytest ${release.pytest}: a test that ${name} costs what comes after it, not before`,
      async (t) => {
        const repo = await repository({
          "test_a.py": `def test_one(): pass\ndef test_two():\n    ${body}\ndef test_three(): pass\n`,
        });
        const { session, exit } = await runOnHost(await environment(release), repo, { limit: 1 });
        t.deepEqual(
          session.results.map(({ id, outcome }) => [id, outcome]),
          [["test_a.py::test_one", "passed"]],
        );
        t.deepEqual([session.running, session.exit, exit], ["test_a.py::test_two", null, code]);
        t.is(session.items.length, 3);
      },
    );
  }

  test.serial(`pytest ${release.pytest}: a test that ends the session is an error of its own`, async (t) => {
    const repo = await repository({
      "test_a.py": `import pytest\ndef test_one(): pass\ndef test_two(): pytest.exit("bye", returncode=0)\ndef test_three(): pass\n`,
    });
    const { session } = await runOnHost(await environment(release), repo, {});
    t.deepEqual(
      session.results.map(({ outcome }) => outcome),
      ["passed", "error"],
    );
    t.is(session.interrupted !== null, true);
  });
}

test.serial("what the project configures to stop early, reorder or spread out is taken back", async (t) => {
  const env = await environment(
    { pytest: "8.4.2", pythons: ["3.12", "3.11", "3.13"] },
    "pytest-xdist",
    "pytest-randomly",
    "pytest-random-order",
  );
  const tests = Array.from(
    { length: 12 },
    (_, index) => `def test_${index}(worker_id): assert worker_id == "master" and ${index} != 3\n`,
  );
  const repo = await repository({
    "pytest.ini": "[pytest]\naddopts = -n 4 --dist loadfile -x --stepwise --lf --random-order\n",
    "test_a.py": tests.join(""),
  });
  const { session, log } = await runOnHost(env, repo, {});
  t.deepEqual(
    session.results.map(({ id }) => id),
    tests.map((_, index) => `test_a.py::test_${index}`),
    log,
  );
  t.deepEqual(
    session.results.filter(({ outcome }) => outcome !== "passed").map(({ id }) => id),
    ["test_a.py::test_3"],
  );
});

test.serial("xdist options without xdist are the project's failure, as with pytest itself", async (t) => {
  const env = await environment({ pytest: "8.4.2", pythons: ["3.12", "3.11", "3.13"] });
  const repo = await repository({ "pytest.ini": "[pytest]\naddopts = -n 4\n", "test_a.py": PASSES });
  const { session, exit, log } = await runOnHost(env, repo, { mode: "collect" });
  t.deepEqual([session.collected, session.pytest, exit], [false, null, 4]);
  t.regex(log, /unrecognized arguments: -n/);
});

test.serial("a missing pytest is said as such", async (t) => {
  const env = await environment({ pytest: "8.4.2", pythons: ["3.12", "3.11", "3.13"] });
  const repo = await repository({
    "fake/pytest.py": 'raise ModuleNotFoundError("No module named \'pytest\'", name="pytest")\n',
  });
  const { session } = await runOnHost(env, repo, { mode: "collect" }, { PYTHONPATH: `${repo}/fake` });
  t.regex(session.error ?? "", /^pytest is not installed in this environment/);
});
