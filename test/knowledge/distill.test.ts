import test from "ava";
import { renderAtoms } from "../../activities/knowledge/atoms/render.ts";
import { memoryBase } from "../../activities/knowledge/base.ts";
import { distillByRules } from "../../activities/knowledge/distill/distill.ts";
import { messageOf } from "../../activities/knowledge/distill/repairs.ts";
import { lexicalEmbedding } from "../../activities/knowledge/embedding/lexical.ts";
import { leaveOut } from "../../activities/knowledge/leave-out.ts";
import { search } from "../../activities/knowledge/search/search.ts";
import type { Step } from "../../activities/store/trajectory.ts";

const REPOSITORY = { name: "acme/widget-tools", aliases: [], forkOf: null, rootCommit: null };

/** Steps of (command, exit code, output). */
function lesson(...done: [string, number | null, string?][]) {
  const steps = done.map(([command, exit, output = ""], index): Step => {
    const part = (text: string) => ({ text, bytes: text.length, omitted: 0 });
    return {
      step: index + 1,
      part: 0,
      move: { kind: "command", script: "0".repeat(64), seconds: null },
      values: null,
      command,
      observation: { exit, end: "exited", seconds: 1, stdout: part(output), stderr: part("") },
    };
  });
  return { repository: REPOSITORY, language: "python", sweep: "s1", run: "c/1", steps };
}

const HEADER =
  "  building extension\n      src/x.c:14:10: fatal error: ffi.h: No such file or directory\n  error: subprocess-exited-with-error\n  note: not pip";

test("a failure, what was done, and the same command that then succeeds make a unit", async (t) => {
  const [unit, ...more] = distillByRules(
    lesson(
      ["/workspace/venv/bin/pip install .", 1, HEADER],
      ["ls /usr/include", 0],
      ["apt-get install -y nothing-like-it", 100, "E: Unable to locate package"],
      ["apt-get update -qq && apt-get install -y libffi-dev", 0],
      ["/workspace/venv/bin/pip install .", 0],
    ),
  );
  t.deepEqual(more, []);
  t.deepEqual(unit?.atoms, [{ name: "apt_install", args: { packages: ["libffi-dev"] } }]);
  t.deepEqual(unit?.provenance, {
    made: "distilled",
    repositories: [REPOSITORY],
    sweep: "s1",
    run: "c/1",
    from: [],
  });
  t.is(unit?.signals.regex[0], "fatal error: ffi\\.h: No such file or directory");
  const base = await memoryBase("test", unit ? [unit] : [], lexicalEmbedding);
  const [found] = await search(base, { text: HEADER }, { profile: "default", limit: 1 });
  t.is(found?.unit.id, unit?.id);
  t.truthy(found?.regex, "its own message matches its pattern");
  t.deepEqual([...leaveOut(unit ? [unit] : [], [REPOSITORY]).left.keys()], [unit?.id]);
  await base.store.close();
});

test("a chain of errors makes a unit each, in the order in which they were met", (t) => {
  const units = distillByRules(
    lesson(
      ["pytest", 2, "E   ModuleNotFoundError: No module named 'yaml'"],
      ["pip install pyyaml", 0],
      ["pytest", 2, "E   ModuleNotFoundError: No module named 'slugify'"],
      ["pip install 'python-slugify'", 0],
      ["export TOKEN=test", 0],
      ["pytest", 0],
    ),
  );
  t.deepEqual(
    units.map(({ atoms }) => atoms),
    [
      [{ name: "pip_install", args: { packages: ["pyyaml"] } }],
      [
        { name: "shell", args: { cmd: "pip install 'python-slugify'" } },
        { name: "set_env", args: { key: "TOKEN", value: "test" } },
      ],
    ],
  );
  for (const { atoms } of units) t.deepEqual(renderAtoms(atoms).left, []);
});

test("nothing is learnt where nothing was mended, nothing was done, or the repository is named", (t) => {
  const failure = "E   ModuleNotFoundError: No module named 'yaml'";
  const cases: [string, number | null, string?][][] = [
    [["pytest", 2, failure]],
    [
      ["pytest", 2, failure],
      ["ls", 0],
      ["pytest", 0],
    ],
    [
      ["pytest", 2, failure],
      ["pip install pyyaml", 1],
      ["pytest", 0],
    ],
    [
      ["pytest", 2, failure],
      ["pip install pyyaml", 0],
      ["pytest", 2, failure],
    ],
    [
      ["pytest", 2, failure],
      ["pip install pyyaml", 0],
      ["pytest", null],
    ],
    [
      ["pytest", 2, "No module named 'widget_tools'"],
      ["pip install -e .", 0],
      ["pytest", 0],
    ],
    [
      ["pytest", 2, failure],
      ["pip install Widget-Tools", 0],
      ["pytest", 0],
    ],
    [
      ["pytest", 2, "all is quiet"],
      ["pip install pyyaml", 0],
      ["pytest", 0],
    ],
  ];
  for (const steps of cases) t.deepEqual(distillByRules(lesson(...steps)), [], JSON.stringify(steps));
});

test("the same repair in two runs has one id", (t) => {
  const steps: [string, number, string?][] = [
    ["pytest", 2, "E   ModuleNotFoundError: No module named 'yaml'"],
    ["pip install pyyaml", 0],
    ["pytest", 0],
  ];
  const one = distillByRules(lesson(...steps));
  const other = distillByRules({ ...lesson(...steps), run: "d/2", sweep: "s2" });
  t.is(one[0]?.id, other[0]?.id);
  t.is(distillByRules(lesson(...steps, ...steps)).length, 1);
});

test("of an output the line that tells what is wrong is taken, not what is printed around it", (t) => {
  const said = (output: string) => messageOf(lesson(["x", 1, output]).steps[0] as Step);
  t.is(said(HEADER), "fatal error: ffi.h: No such file or directory");
  t.is(said("bash: line 1: gcc: command not found"), "gcc: command not found");
  t.is(said("/bin/sh: 3: make: not found"), "make: not found");
  t.is(
    said("  × ERROR: No matching distribution found for x\n  hint: see above"),
    "ERROR: No matching distribution found for x",
  );
  t.is(said("fine"), null);
});
