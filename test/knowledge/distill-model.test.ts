import test from "ava";
import { distillByModel } from "../../activities/knowledge/distill/by-model.ts";
import type { Lesson } from "../../activities/knowledge/distill/distill.ts";
import { commandsText, errorsText, lessonScore } from "../../activities/knowledge/distill/transcript.ts";
import { judgeByModel } from "../../activities/knowledge/merge/judge-by-model.ts";
import { readCalls } from "../../activities/model/journal.ts";
import { runRole } from "../../activities/model/run-role.ts";
import type { Step } from "../../activities/store/trajectory.ts";
import { policyOf, testCaller } from "../model/caller.ts";
import { modelServer } from "../model/server.ts";

const HEADER = "src/x.c:14:10: fatal error: ffi.h: No such file or directory";

function lesson(...done: [string, number, string?][]): Lesson {
  const steps = done.map(([command, exit, output = ""], index): Step => {
    const part = (text: string) => ({ text, bytes: text.length, omitted: 0 });
    const observation = { exit, end: "exited" as const, seconds: 1, stdout: part(output), stderr: part("") };
    const move = { kind: "command" as const, script: "0".repeat(64), seconds: null };
    return { step: index + 1, part: 0, move, command, values: null, observation };
  });
  const repository = { name: "acme/widget-tools", aliases: [], forkOf: null, rootCommit: null };
  return { repository, language: "python", sweep: "s", run: "c/1", steps };
}

const MENDED = lesson(
  ["pip install .", 1, HEADER],
  ["apt-get install -y libffi-dev", 0],
  ["pip install .", 0],
);

const GOOD = {
  situation: "A C extension is built and its header is missing.",
  patterns: ["fatal error: ffi\\.h", "never printed"],
  keywords: ["ffi.h", "absent word"],
  ...{ tools: ["pip"], advice: ["Install the header's package."] },
  atoms: [
    { name: "apt_install", target: "libffi-dev", value: "" },
    { name: "pip_pin", target: "cffi", value: "" },
  ],
};

async function distilled(units: object[], decision = "units") {
  const server = await modelServer(() => ({ text: JSON.stringify({ decision, reason: "", units }) }));
  const { caller, remove } = await testCaller(server.url);
  const policy = policyOf(caller);
  try {
    const found = await distillByModel(MENDED, (role, input) => runRole(role, input, policy));
    return { found, asked: server.asked, calls: await readCalls(caller.key) };
  } finally {
    await server.close();
    await remove();
  }
}

test("of what a model says only what the run printed and what can be rendered is taken", async (t) => {
  const { found, asked, calls } = await distilled([GOOD]);
  t.is(found.length, 1);
  t.deepEqual(found[0]?.signals.regex, ["fatal error: ffi\\.h"]);
  t.deepEqual(found[0]?.signals.keywords, ["ffi.h"]);
  t.deepEqual(found[0]?.atoms, [{ name: "apt_install", args: { packages: "libffi-dev" } }]);
  t.deepEqual(found[0]?.provenance.repositories, [MENDED.repository]);
  t.is(calls.length, 1);
  t.regex(asked[0]?.body.messages.at(-1)?.content ?? "", /libffi-dev[\s\S]*ffi\.h/);
});

test("what names the repository, matches nothing, or is skipped becomes no unit", async (t) => {
  t.deepEqual((await distilled([{ ...GOOD, advice: ["Install widget_tools first."] }])).found, []);
  t.deepEqual((await distilled([{ ...GOOD, patterns: ["nothing"], keywords: [] }])).found, []);
  t.deepEqual((await distilled([GOOD], "skip")).found, []);
});

test("a run in which nothing was done is not read at all", async (t) => {
  const never = () => Promise.reject(new Error("asked"));
  t.deepEqual(await distillByModel(lesson(), never), []);
  t.is(lessonScore(MENDED.steps), 11);
  t.is(lessonScore(lesson(["ls", 0]).steps), 1);
});

test("a transcript keeps its beginning and its end", (t) => {
  const many = lesson(
    ...Array.from({ length: 400 }, (_, i): [string, number, string] => [`run ${i}`, 1, `Error: ${i}x`]),
  );
  t.true(commandsText(many.steps).length < 4_100);
  t.regex(commandsText(many.steps), /^1\. \[exit 1\] run 0\n[\s\S]*run 399$/);
  t.is(errorsText(many.steps).split("\n").length, 25);
});

test("a model decides whether two near units are one", async (t) => {
  const server = await modelServer(() => ({ text: JSON.stringify({ same: true, reason: "They are." }) }));
  const { caller, remove } = await testCaller(server.url);
  const { found } = await distilled([GOOD]);
  const [unit] = found;
  if (unit === undefined) return t.fail();
  const policy = policyOf(caller);
  const judge = judgeByModel((role, input) => runRole(role, input, policy));
  t.deepEqual(await judge(unit, unit), { same: true, reason: "They are." });
  await server.close();
  await remove();
});
