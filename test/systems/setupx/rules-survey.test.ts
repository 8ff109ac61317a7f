import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { type Facts, readFacts } from "../../../activities/systems/setupx/rules/facts.ts";
import { needsOf } from "../../../activities/systems/setupx/rules/needs.ts";
import { SURVEY } from "../../../activities/systems/setupx/rules/survey.ts";

const run = promisify(execFile);

/** Surveys a folder with these files, in a real shell with a real Python. */
async function survey(files: Readonly<Record<string, string>>): Promise<{ facts: Facts; bytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), "survey-test-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const made = new Date("2021-05-13T12:00:00Z");
    for (const path of Object.keys(files)) await utimes(join(folder, path), made, made);
    await symlink("/etc/passwd", join(folder, "requirements-test.txt")).catch(ignoreExisting);
    const { stdout } = await run("bash", ["-c", SURVEY], { cwd: folder });
    const facts = readFacts(stdout);
    if (facts === null) throw new Error(`no facts in ${stdout}`);
    return { facts, bytes: stdout.length };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

test("pyproject.toml gives the back end, extras, groups with what they include, and pytest's options", async (t) => {
  const { facts } = await survey({
    "pyproject.toml": `
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "thing"
dependencies = ["attrs>=20"]
[project.optional-dependencies]
fast = ["ujson"]
docs = ["sphinx"]
[dependency-groups]
base = ["pytest"]
test = [{include-group = "base"}, "hypothesis"]
[tool.pytest.ini_options]
addopts = ["--cov", "-ra"]
required_plugins = "pytest-timeout"
`,
    "tests/test_thing.py": "import yaml\nimport thing\n",
    "src/thing/__init__.py": "",
  });
  t.is(facts.backend, "hatchling.build");
  t.deepEqual(facts.dependencies, ["attrs>=20"]);
  t.deepEqual(facts.groups.test, ["pytest", "hypothesis"]);
  t.is(facts.pytest.addopts, "--cov -ra");
  t.deepEqual(facts.imports, ["yaml"]);
  t.is(facts.date, "2021-05-13");
  const needs = needsOf(facts);
  t.deepEqual(needs.requirements, ["pytest", "hypothesis", "pytest-timeout"]);
  t.deepEqual(needs.extras, []);
  t.deepEqual(needs.optional, ["ujson"]);
});

test("setup.py is read and never run", async (t) => {
  const { facts } = await survey({
    "setup.py": `
import os
os.system("touch /tmp/survey-ran-setup-py")
tests = ["pytest", "mock"]
extras = {"tests": tests}
extras["dev"] = extras["tests"] + ["tox"]
from setuptools import setup, Extension
setup(name="old", extras_require=extras, tests_require=tests, install_requires=["six"], ext_modules=[Extension("a", ["a.c"])])
raise SystemExit(3)
`,
  });
  t.is(facts.name, "old");
  t.deepEqual(facts.extras, { tests: ["pytest", "mock"], dev: ["pytest", "mock", "tox"] });
  t.deepEqual(facts.dependencies, ["six"]);
  t.true(facts.extension);
  t.deepEqual(needsOf(facts).extras, ["tests"]);
  await t.throwsAsync(run("ls", ["/tmp/survey-ran-setup-py"]));
});

test("Poetry's caret and tilde become specifiers that pip knows", async (t) => {
  const { facts } = await survey({
    "pyproject.toml": `
[tool.poetry]
name = "poem"
[tool.poetry.dependencies]
python = "^3.8"
requests = "^2.25"
zero = "~0.3.1"
extra = {version = ">=1", extras = ["x"], optional = true}
[tool.poetry.group.test.dependencies]
pytest = "*"
`,
  });
  t.deepEqual(facts.dependencies, ["requests>=2.25,<3", "zero>=0.3.1,<0.4", "extra[x]>=1"]);
  t.deepEqual(facts.groups.test, ["pytest"]);
});

test("guarded imports are apart, the repository's own modules are left out", async (t) => {
  const { facts } = await survey({
    "pkg/__init__.py": "",
    "tests/helper.py": "",
    "tests/test_a.py": `
import os, six
import helper
from pkg import thing
try:
    import lxml
except ImportError:
    lxml = None
np = pytest.importorskip("numpy")
def test_one():
    import lazily
`,
  });
  t.deepEqual(facts.imports, ["six"]);
  t.deepEqual(facts.optionalImports.toSorted(), ["lazily", "lxml", "numpy"]);
});

test("tox, CI and requirement files are read for what tests need", async (t) => {
  const { facts } = await survey({
    "tox.ini": `
[testenv]
deps =
    pytest
    py38: faulthandler
    lowest: attrs==19.1
    -r{toxinidir}/requirements/tests.txt
extras = speed
setenv =
    DJANGO_SETTINGS_MODULE = tests.settings
`,
    "requirements/tests.txt": "requests==2.0  # pinned\n-r base.txt\n",
    ".github/workflows/test.yml": `
jobs:
  test:
    services:
      db:
        image: postgres:15
        env:
          POSTGRES_PASSWORD: secret
    steps:
      - run: sudo apt-get install -y libpq-dev \\
          swig
      - run: pip install -e .[ci] coverage
`,
  });
  t.deepEqual(facts.toxDeps, ["pytest", "faulthandler"]);
  t.deepEqual(facts.toxFiles, ["requirements/tests.txt"]);
  t.deepEqual(facts.envExtras, ["speed", "ci"]);
  t.is(facts.testEnv.DJANGO_SETTINGS_MODULE, "tests.settings");
  t.deepEqual(facts.apt, ["libpq-dev", "swig"]);
  t.deepEqual(facts.services, ["postgres"]);
  t.deepEqual(facts.serviceEnv, { POSTGRES_PASSWORD: "secret" });
  t.deepEqual(needsOf(facts).files, ["requirements/tests.txt"]);
});

test("requirement files for another Python than the image's are left alone", async (t) => {
  const { facts } = await survey({
    "requirements-dev.txt": "pytest\n",
    "requirements/3.3/requirements-dev.txt": "pytest<3\n",
    "requirements/py27-test.txt": "pytest<5\n",
    "setup.py": "from setuptools import setup\nsetup(name='one')\n",
  });
  t.deepEqual(needsOf({ ...facts, python: "3.11" }).files, ["requirements-dev.txt"]);
});

test("a hostile repository gets a short answer, and nothing outside of it is read", async (t) => {
  const deep = `${"(".repeat(5_000)}1${")".repeat(5_000)}`;
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`tests/test_${index}.py`, `import module_${index}\n`]),
  );
  const { facts, bytes } = await survey({
    ...many,
    "setup.py": `setup(name=${deep})`,
    "pyproject.toml": `[project]\nname = 3\ndependencies = {a = 1}\n`,
    "setup.cfg": "[broken\n",
    "tests/test_deep.py": deep,
    "requirements.txt": Array.from({ length: 5_000 }, (_, index) => `package-${index}==1\n`).join(""),
  });
  t.true(bytes < 15_000, `${bytes}`);
  t.false(JSON.stringify(facts).includes("root:"));
});
