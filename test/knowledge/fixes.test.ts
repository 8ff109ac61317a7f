import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { renderAtoms, renderedScript } from "../../activities/knowledge/atoms/render.ts";
import { openBase, SEED } from "../../activities/knowledge/base.ts";
import { search } from "../../activities/knowledge/search/search.ts";

const run = promisify(execFile);
const BUILD = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n';

/** Small projects that fail, each for a reason of its own, and the command that shows it. */
const FAILING: Record<string, { files: Record<string, string>; command: string }> = {
  "a fixture of a plugin": {
    files: { "test_a.py": "def test_a(mocker): pass\n" },
    command: "python3 -m pytest -q",
  },
  "a project that is not installed": {
    files: {
      "pyproject.toml": `${BUILD}[project]\nname = "ownpackage"\nversion = "1"\n`,
      "src/ownpackage/__init__.py": "",
      "tests/test_a.py": "import ownpackage\ndef test_a(): pass\n",
    },
    command: "python3 -m pytest -q tests",
  },
  "a module whose distribution has another name": {
    files: { "test_a.py": "import slugify\ndef test_a(): pass\n" },
    command: "python3 -m pytest -q",
  },
  "two test modules of one name": {
    files: { "a/test_u.py": "def test_a(): pass\n", "b/test_u.py": "def test_a(): pass\n" },
    command: "python3 -m pytest -q",
  },
  "a variable that nobody set": {
    files: { "test_a.py": 'import os\nTOKEN = os.environ["SOME_API_TOKEN"]\ndef test_a(): pass\n' },
    command: "python3 -m pytest -q",
  },
  "coroutines as tests": {
    files: { "test_a.py": "async def test_a(): pass\n" },
    command: "python3 -m pytest -q",
  },
};

let root: string;
let environment: NodeJS.ProcessEnv;
test.before(async () => {
  root = await mkdtemp(join(tmpdir(), "setup-bench-fixes-"));
  environment = { ...process.env, PATH: `${join(root, "venv", "bin")}:${process.env.PATH}` };
  await run("python3", ["-m", "venv", join(root, "venv")]);
  await run(join(root, "venv", "bin", "python3"), ["-m", "pip", "install", "--quiet", "pytest"]);
});
test.after.always(() => rm(root, { recursive: true }));

for (const [name, { files, command }] of Object.entries(FAILING)) {
  test.serial(`the first unit for ${name} mends it for real`, async (t) => {
    const folder = join(root, name.replaceAll(" ", "-"));
    for (const [file, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), content);
    }
    const bash = (script: string) => run("bash", ["-c", script], { cwd: folder, env: environment });
    const { stdout = "", stderr = "" } = await t.throwsAsync<Error & { stdout?: string; stderr?: string }>(
      () => bash(command),
    );
    const base = await openBase(SEED, { stateFolder: "/nowhere" });
    const text = `$ ${command}\n${stdout}\n${stderr}`;
    const [first] = await search(base, { text, language: "python" }, { profile: "default", limit: 1 });
    await base.store.close();
    const rendered = renderAtoms(first?.unit.atoms ?? [], { captures: first?.captures ?? {} });
    const mended = await bash(`${renderedScript(rendered)}\n${command}`);
    t.regex(mended.stdout, /\d passed/, first?.unit.id);
  });
}
