import test from "ava";
import fc from "fast-check";
import {
  actionOf,
  type DecideInput,
  type DecideOutput,
  decide,
} from "../../../activities/systems/setupx/roles/decide.ts";
import type { Suggestion, Turn } from "../../../activities/systems/setupx/roles/turn.ts";
import { decideByRules } from "../../../activities/systems/setupx/rules/decide.ts";
import { erasOf } from "../../../activities/systems/setupx/rules/era.ts";
import { emptyFacts, type Facts } from "../../../activities/systems/setupx/rules/facts.ts";
import { repairsOf, unbuildable } from "../../../activities/systems/setupx/rules/repair.ts";
import { VERY_MESSAGE } from "../../../activities/systems/setupx/rules/select.ts";

const TURNS = 45;
const FACTS: Facts = {
  ...emptyFacts(),
  ...{ name: "thing", python: "3.11", today: "2026-11-30", date: "2026-11-01", installable: true },
  ...{ extras: { test: ["pytest"], fast: ["ujson"] }, imports: ["yaml"] },
};

/** What a turn comes to: the world that the rules act in, made up. */
type World = (answer: DecideOutput, turn: number) => Partial<Turn> & { suggestions?: Suggestion[] };

const SURVEYED = (facts: Facts) => ({
  success: true,
  result: ended(0, `SURVEY ${JSON.stringify(facts)}\n`),
});

function ended(exit: number, stdout: string, stderr = ""): Turn["result"] {
  return { exit, end: "exited", seconds: 1, stdout, stderr };
}

function play(world: World): { turns: Turn[]; end: DecideOutput | null } {
  const turns: Turn[] = [];
  let lastError: string | null = null;
  let suggestions: Suggestion[] = [];
  for (let turn = 1; turn <= TURNS; turn++) {
    const input: DecideInput = {
      ...{ task: "thing", language: "python", turnsLeft: TURNS - turn + 1, environment: {}, frames: 1 },
      ...{ turns, lastError, suggestions, shown: { characters: 1_000, turns: 10 } },
    };
    const answer = decideByRules(input);
    if (answer.action === "FINISH") return { turns, end: answer };
    const { suggestions: next, ...outcome } = world(answer, turn);
    const taken: Turn = {
      ...{ turn, thought: answer.thought, action: actionOf(answer), result: null, success: true, note: "" },
      ...outcome,
    };
    turns.push(taken);
    if (taken.action.kind === "verify" && taken.success) return { turns, end: null };
    if (taken.action.kind !== "try")
      lastError = taken.success ? null : `${taken.result?.stderr ?? ""}${taken.note}` || "failed";
    const tried = new Set(turns.flatMap(({ action }) => (action.kind === "try" ? [action.unit] : [])));
    if (taken.action.kind !== "try") suggestions = lastError === null ? [] : (next ?? []);
    suggestions = suggestions.filter((one) => !tried.has(one.unit));
  }
  return { turns, end: null };
}

const said = (turns: readonly Turn[]) => turns.map(({ thought }) => thought.split(":")[0]);
const isSurvey = (answer: DecideOutput) => answer.command.includes("END_OF_SURVEY");
const unit = (id: string, command: string): Suggestion => ({
  ...{ unit: id, advice: ["Do it."], commands: [command], environment: {}, umask: null },
  ...{ reason: VERY_MESSAGE, confidence: 0.8 },
});

test("where everything works, a survey, the plan and one verification are all", (t) => {
  const { turns, end } = play((answer) => (isSurvey(answer) ? SURVEYED(FACTS) : { success: true }));
  t.is(end, null);
  t.deepEqual(said(turns), [
    ...["survey", "tools", "fresh", "variable", "variable", "project", "tests", "pytest", "optional"],
    ...["imports", "verify"],
  ]);
  t.true(turns.some(({ action }) => action.kind === "shell" && action.command.includes("-e '.[test]'")));
});

test("without Python it is installed, and the survey made again", (t) => {
  const { turns } = play((answer, turn) => {
    if (turn === 1) return { success: false, result: ended(127, "", "bash: python3: command not found") };
    return isSurvey(answer) ? SURVEYED(FACTS) : { success: true };
  });
  t.deepEqual(said(turns).slice(0, 4), ["survey", "python", "survey", "tools"]);
});

test("a failure is tried with experience first, and done again once that was kept", (t) => {
  let failed = false;
  const { turns } = play((answer) => {
    if (isSurvey(answer)) return SURVEYED(FACTS);
    if (answer.thought.startsWith("project:") && !failed) {
      failed = true;
      const stderr = "fatal error: ffi.h: No such file or directory";
      return { success: false, result: ended(1, "", stderr), suggestions: [unit("header-ffi", "apt")] };
    }
    return { success: true };
  });
  const place = turns.findIndex(({ success }) => !success);
  t.deepEqual(turns[place + 1]?.action, { kind: "try", unit: "header-ffi", commands: [] });
  t.deepEqual(turns[place + 2]?.action, turns[place]?.action);
});

test("without experience the message itself is what is acted on, then the next way is taken", (t) => {
  const { turns } = play((answer) => {
    if (isSurvey(answer)) return SURVEYED(FACTS);
    if (!/^(?:project|repair):/.test(answer.thought)) return { success: true };
    const works = answer.command === "/workspace/tools/install .";
    return works
      ? { success: true }
      : { success: false, result: ended(1, "", "fatal error: ffi.h: No such file or directory") };
  });
  const first = turns.findIndex(({ thought }) => thought.startsWith("project:"));
  t.regex(JSON.stringify(turns[first + 1]?.action), /apt-file search/);
  t.true(said(turns).filter((name) => name === "project").length >= 3);
});

test("advice that only resembles the failure is not tried", (t) => {
  const { turns } = play((answer) => {
    if (isSurvey(answer)) return SURVEYED(FACTS);
    if (!answer.thought.startsWith("project:")) return { success: true };
    const vague = { ...unit("vague", "true"), reason: "It names 60 % of its words.", confidence: 0.3 };
    return { success: false, result: ended(1, "", "some failure"), suggestions: [vague] };
  });
  t.false(turns.some(({ action }) => action.kind === "try"));
});

test("a verification that fails for good ends in an honest word", (t) => {
  const hint = (uncollected: number) =>
    `pytest: 9 tests found. 3 tests: E fixture 'gone' not found\n(collected 9, passed 6, failed 3, skipped 0, not collected ${uncollected})\n[fixture:gone]`;
  for (const [uncollected, ready] of [
    [0, true],
    [2, false],
  ] as const) {
    const { end } = play((answer) => {
      if (isSurvey(answer)) return SURVEYED(FACTS);
      return answer.action === "VERIFY" ? { success: false, note: hint(uncollected) } : { success: true };
    });
    t.is(end?.action, "FINISH");
    t.is(end?.ready, ready);
  }
});

test("old releases are resolved as of their time, then as of when the Python had settled, then as of today", (t) => {
  const eras = (date: string) => erasOf({ ...FACTS, date });
  t.deepEqual(eras("2026-10-01"), [null]);
  t.deepEqual(eras(""), [null]);
  t.deepEqual(eras("2024-05-28"), ["2024-06-01", null]);
  t.deepEqual(eras("2020-06-22"), ["2020-06-26", "2023-04-23", null]);
});

test("an environment in which most tests fail gives way to one of another time", (t) => {
  const { turns } = play((answer) => {
    if (isSurvey(answer)) return SURVEYED({ ...FACTS, date: "2020-06-22" });
    if (answer.action !== "VERIFY") return { success: true };
    return { success: false, note: "(collected 9, passed 1, failed 8, skipped 0, not collected 0)\n[share]" };
  });
  const fresh = turns.filter(({ thought }) => thought.startsWith("fresh:")).map(({ thought }) => thought);
  t.deepEqual(
    fresh.slice(0, 3).map((thought) => /as of (\S+)\.$/.exec(thought)?.[1]),
    ["2020-06-26", "2023-04-23", "today"],
  );
});

test("messages name what is missing, whatever tool writes them", (t) => {
  const choices = { era: null, relaxed: new Map() };
  const repair = (message: string) => repairsOf(message, FACTS, choices).join("\n");
  t.regex(repair("E   ModuleNotFoundError: No module named 'yaml.loader'"), /install yaml$/);
  t.is(repair("No module named 'thing'"), "");
  t.regex(repair("FileNotFoundError: [Errno 2] No such file or directory: 'less'"), /install .* less /);
  t.regex(repair("ImportError: libGL.so.1: cannot open shared object file"), /libGL\\\.so\\\.1\$/);
  t.deepEqual(unbuildable("error: Failed to build `lxml==4.5.1`", FACTS), ["lxml"]);
  t.deepEqual(unbuildable("ERROR: Failed building wheel for thing", FACTS), []);
});

const outcome = fc.record({
  success: fc.boolean(),
  stderr: fc.constantFrom(
    "",
    "No module named 'yaml'",
    "Failed to build `lxml==4.5.1`",
    "Failed to build `cffi==1.0`",
    "fatal error: a.h: No such file or directory",
    "bash: swig: command not found",
  ),
  note: fc.constantFrom(
    "",
    "(collected 0, passed 0, failed 0, skipped 0, not collected 1)\n[module:a] [collect:b]",
    "(collected 9, passed 8, failed 1, skipped 0, not collected 0)\n[program:less]",
    "(collected 9, passed 1, failed 8, skipped 0, not collected 0)\n[share]",
  ),
  suggestions: fc.array(
    fc.constantFrom("a", "b", "c").map((id) => unit(id, id)),
    { maxLength: 3 },
  ),
});

test("whatever happens, it comes to an end, answers as it must and never repeats what fails for nothing", (t) => {
  const dates = fc.constantFrom("", "2020-06-22", "2024-05-28");
  fc.assert(
    fc.property(
      fc.array(outcome, { minLength: TURNS, maxLength: TURNS }),
      dates,
      fc.boolean(),
      (outcomes, date, surveys) => {
        const { turns, end } = play((answer, turn) => {
          t.notThrows(() => decide.output.parse(answer));
          if (surveys && isSurvey(answer)) return SURVEYED({ ...FACTS, date });
          const { success, stderr, note, suggestions } = outcomes[turn - 1] as (typeof outcomes)[number];
          return { success, note, suggestions, result: ended(success ? 0 : 1, "", stderr) };
        });
        const verified = turns.at(-1)?.action.kind === "verify" && turns.at(-1)?.success;
        return (end !== null || verified === true) && !repeatsInVain(turns);
      },
    ),
    { numRuns: 200 },
  );
});

/** Whether a command that failed ran again although nothing had succeeded in between. */
function repeatsInVain(turns: readonly Turn[]): boolean {
  const failed = new Set<string>();
  for (const { action, success } of turns) {
    const key = JSON.stringify(action);
    if (failed.has(key)) return true;
    if (success) failed.clear();
    else failed.add(key);
  }
  return false;
}
