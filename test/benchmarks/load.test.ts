import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { loadSuite } from "../../benchmarks/load.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";

const TASK = { id: "here", source: { kind: "directory", path: "repo" } };
const SUITE = { suite: "own", title: "Own", source: "by hand", tasks: [TASK] };

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "suite-"));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function write(t: ExecutionContext, files: Record<string, unknown>): Promise<string> {
  const root = await folder(t);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, ".."), { recursive: true });
    await writeFile(join(root, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return root;
}

async function refusal(t: ExecutionContext, nameOrFile: string): Promise<string> {
  const error = await t.throwsAsync(loadSuite(nameOrFile), { instanceOf: UsageError });
  t.false(error?.message.includes("\n"), "one line");
  return error?.message ?? "";
}

test("JSON and YAML with the same content have the same digest", async (t) => {
  const yaml =
    "title: Own\nsuite: own\nsource: by hand\ntasks:\n  - source: {path: repo, kind: directory}\n    id: here\n";
  const root = await write(t, { "own.json": SUITE, "own.yaml": yaml });
  const [json, other] = await Promise.all([
    loadSuite(join(root, "own.json")),
    loadSuite(join(root, "own.yaml")),
  ]);
  t.is(json.digest, other.digest);
  t.deepEqual(json.suite, other.suite);
});

test("Relative paths are taken from the suite file's folder, and the digest does not depend on the folder", async (t) => {
  const suite = { ...SUITE, tasks: [{ ...TASK, gold: { file: "gold/here.txt" } }] };
  const files = { "own.json": suite, "gold/here.txt": "t.py::a[x\u2028y]\nt.py::b\n" };
  const [one, two] = [await write(t, files), await write(t, files)];
  const loaded = await loadSuite(join(one, "own.json"));
  const [task] = loaded.suite.tasks;
  t.deepEqual(task?.source, { kind: "directory", path: join(one, "repo") });
  t.deepEqual(task && (await loaded.goldIds(task)), ["t.py::a[x\u2028y]", "t.py::b"]);
  t.is(loaded.digest, (await loadSuite(join(two, "own.json"))).digest);
});

test("A changed gold file changes the digest", async (t) => {
  const root = await write(t, {
    "own.json": { ...SUITE, tasks: [{ ...TASK, gold: { file: "gold.txt" } }] },
    "gold.txt": "a\n",
  });
  const before = await loadSuite(join(root, "own.json"));
  await writeFile(join(root, "gold.txt"), "a\nb\n");
  t.not((await loadSuite(join(root, "own.json"))).digest, before.digest);
});

test("A selection's digest depends on the tasks that it picks and on no others", async (t) => {
  const other = { id: "other", source: { kind: "directory", path: "b" } };
  const pick = { suite: "one", title: "One", from: "base.json", tasks: ["here"] };
  const root = await write(t, { "base.json": { ...SUITE, tasks: [other, TASK] }, "pick.json": pick });
  const before = await loadSuite(join(root, "pick.json"));
  t.deepEqual(
    before.suite.tasks.map(({ id }) => id),
    ["here"],
  );
  t.is(before.suite.source, "by hand");
  await writeFile(join(root, "base.json"), JSON.stringify({ ...SUITE, tasks: [TASK] }));
  t.is((await loadSuite(join(root, "pick.json"))).digest, before.digest);
  const changed = { ...SUITE, tasks: [{ ...TASK, tier: "low" }] };
  await writeFile(join(root, "base.json"), JSON.stringify(changed));
  t.not((await loadSuite(join(root, "pick.json"))).digest, before.digest);
});

test("A selection may pick from a registered suite", async (t) => {
  const root = await write(t, {
    "s.yaml": "{suite: s, title: S, from: pypi-sdist, tasks: [flask, h11]}",
  });
  const { suite, goldIds } = await loadSuite(join(root, "s.yaml"));
  const [flask, h11] = suite.tasks;
  t.deepEqual([flask?.id, h11?.id], ["flask", "h11"]);
  t.is(h11 && (await goldIds(h11))?.length, 78);
});

test("An unknown name lists the nearest ones", async (t) => {
  const message = await refusal(t, "pypi-smok");
  t.regex(message, /unknown suite pypi-smok; nearest: pypi-smoke/);
});

test("A missing file, broken JSON and broken YAML are named", async (t) => {
  const root = await write(t, { "a.json": "{", "b.yaml": "a: [", "c.json": [] });
  t.regex(await refusal(t, join(root, "none.json")), /none\.json: can't be read \(ENOENT\)/);
  t.regex(await refusal(t, join(root, "a.json")), /a\.json: not valid JSON/);
  t.regex(await refusal(t, join(root, "b.yaml")), /b\.yaml: not valid YAML/);
  t.regex(await refusal(t, join(root, "c.json")), /c\.json: must hold one object/);
});

test("A wrong value is named by file and key path, with what it must be", async (t) => {
  const git = { kind: "git", repository: "https://example.org/a", revision: "main" };
  const suites = {
    "revision.json": { ...SUITE, tasks: [TASK, { id: "b", source: git }] },
    "key.json": { ...SUITE, tasks: [{ ...TASK, stars: 5 }] },
    "gold.json": { ...SUITE, tasks: [{ ...TASK, gold: 5 }] },
    "kind.json": { ...SUITE, tasks: [{ id: "b", source: { kind: "svn" } }] },
    "empty.json": { ...SUITE, tasks: [] },
    "misspelt.json": { ...SUITE, tasks: [{ id: "b", sorce: git }] },
    "missing.json": { ...SUITE, tasks: [{ id: "b" }] },
  };
  const root = await write(t, suites);
  const message = (name: string) => refusal(t, join(root, name));
  t.regex(
    await message("revision.json"),
    /revision\.json: tasks\[1\]\.source\.revision: must be a full 40-digit/,
  );
  t.regex(await message("key.json"), /key\.json: tasks\[0\]\.stars: unknown key; remove it/);
  t.regex(await message("gold.json"), /gold\.json: tasks\[0\]\.gold: must be \{"file"/);
  t.regex(await message("kind.json"), /kind\.json: tasks\[0\]\.source\.kind: /);
  t.regex(await message("empty.json"), /empty\.json: tasks: /);
  t.regex(await message("misspelt.json"), /misspelt\.json: tasks\[0\]\.sorce: unknown key; remove it/);
  t.regex(await message("missing.json"), /missing\.json: tasks\[0\]\.source: is missing; add it/);
});

test("Duplicate ids are refused, also when only their case differs", async (t) => {
  const twice = { ...SUITE, tasks: [TASK, { ...TASK, id: "HERE" }] };
  const slash = {
    ...SUITE,
    tasks: [
      { ...TASK, id: "a/b" },
      { ...TASK, id: "a__b" },
    ],
  };
  const root = await write(t, { "own.json": twice, "slash.json": slash });
  t.regex(await refusal(t, join(root, "own.json")), /tasks\[1\]: HERE is already tasks\[0\]/);
  t.regex(await refusal(t, join(root, "slash.json")), /tasks\[1\]: a__b shares its folder with tasks\[0\]/);
});

test("A YAML file that leads back into itself is refused", async (t) => {
  const root = await write(t, {});
  await writeFile(join(root, "loop.yaml"), "suite: loop\ntitle: &t [*t]\n");
  t.regex(await refusal(t, join(root, "loop.yaml")), /loop\.yaml: not valid YAML: .*circular/);
});

test("A selection of what is not there, of itself, or of the same twice is refused", async (t) => {
  const pick = { suite: "one", title: "One", from: "own.json", tasks: ["her"] };
  const root = await write(t, {
    "own.json": SUITE,
    "missing.json": pick,
    "twice.json": { ...pick, tasks: ["here", "here"] },
    "self.json": { ...pick, from: "self.json" },
    "nowhere.json": { ...pick, from: "pypi-sdis" },
  });
  t.regex(await refusal(t, join(root, "missing.json")), /tasks\[0\]: her is not in own\.json; nearest: here/);
  t.regex(await refusal(t, join(root, "twice.json")), /tasks\[1\]: here is already tasks\[0\]/);
  t.regex(await refusal(t, join(root, "self.json")), /self\.json: from: leads back to this file/);
  t.regex(
    await refusal(t, join(root, "nowhere.json")),
    /nowhere\.json: from: unknown suite pypi-sdis; nearest: pypi-/,
  );
});

test("A missing or empty gold file is named with its task", async (t) => {
  const root = await write(t, {
    "missing.json": { ...SUITE, tasks: [{ ...TASK, gold: { file: "none.txt" } }] },
    "empty.json": { ...SUITE, tasks: [{ ...TASK, gold: { file: "empty.txt" } }] },
    "empty.txt": "\n",
  });
  t.regex(await refusal(t, join(root, "missing.json")), /task here: gold\.file: .*none\.txt can't be read/);
  const { suite, goldIds } = await loadSuite(join(root, "empty.json"));
  const [task] = suite.tasks;
  const error = await t.throwsAsync(async () => task && goldIds(task), { instanceOf: UsageError });
  t.regex(error?.message ?? "", /empty\.txt: holds no test id/);
});
