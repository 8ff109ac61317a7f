import test from "ava";
import type { Notes } from "../../../activities/store/notes.ts";
import type { Step } from "../../../activities/store/trajectory.ts";
import { candidatesOf } from "../../../activities/systems/setupx/candidates.ts";
import { gotFurther } from "../../../activities/systems/setupx/failure.ts";
import type { TurnNote } from "../../../activities/systems/setupx/note.ts";
import { optionsOf, variants } from "../../../activities/systems/setupx/options.ts";
import type { AgentAction, Suggestion } from "../../../activities/systems/setupx/roles/turn.ts";
import { lastErrorOf, triedUnits, turnsOf } from "../../../activities/systems/setupx/turns.ts";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import type { Move } from "../../../workflows/moves.ts";

function noted(action: AgentAction, more: Partial<TurnNote> = {}): TurnNote {
  return {
    ...{
      thought: "",
      action,
      lastError: null,
      retrieval: null,
      suggestions: [],
      candidates: [],
      refusal: "",
    },
    ...more,
  };
}

function step(turn: number, part: number, move: Move, exit: number | null, stderr = ""): Step {
  const output = (text: string) => ({ text, bytes: text.length, omitted: 0 });
  const command = move.kind === "command" ? move.script : null;
  const observation = {
    exit,
    end: "exited" as const,
    seconds: 1,
    stdout: output(""),
    stderr: output(stderr),
  };
  return { step: turn, part, move, command, values: null, observation };
}

const run = (script: string): Move => ({ kind: "command", script, seconds: null });
const NOTES: Notes = {
  read: async (name) =>
    name === "verify-1"
      ? { success: false, hint: "No module named 'x'", framework: "pytest", collected: 3 }
      : null,
  once: (_, make) => make(),
};
const candidate = (unit: string, command: string) => ({
  unit,
  commands: [command],
  values: null,
  check: null,
});
const suggestion = (unit: string, commands: string[] = ["true"]): Suggestion => ({
  ...{ unit, advice: [unit], commands, environment: {}, umask: null, reason: "", confidence: 1 },
});

test("a try that was taken back leaves the problem as it was, one that was kept ends it", async (t) => {
  const notes = [
    noted({ kind: "shell", command: "make" }),
    noted({ kind: "try", unit: "u", commands: [] }, { candidates: [candidate("u", "fix")] }),
  ];
  const failed = [
    step(1, 0, run("make"), 2, "make: no rule"),
    step(2, 900, { kind: "push", frame: "try-2" }, 0),
  ];
  const undone = [
    ...failed,
    step(2, 901, run("fix"), 1, "no"),
    step(2, 999, { kind: "pop", frame: "try-2" }, 0),
  ];
  const turns = await turnsOf(notes, undone, NOTES);
  t.like(turns[1], { success: false, note: "u: taken back, for it did not help" });
  t.is(lastErrorOf(turns), "make: no rule");
  const kept = await turnsOf(notes, [...failed, step(2, 901, run("fix"), 0)], NOTES);
  t.like(kept[1], { success: true, note: "kept: u" });
  t.is(lastErrorOf(kept), null);
  t.deepEqual([...triedUnits(notes)], ["u"]);
});

test("a kept try whose check fails otherwise leaves that failure as the problem", async (t) => {
  const notes = [noted({ kind: "try", unit: "u", commands: [] }, { candidates: [candidate("u", "fix")] })];
  const steps = [
    step(1, 900, { kind: "push", frame: "try-1" }, 0),
    step(1, 901, run("fix"), 0),
    step(1, 902, run("make"), 2, "another problem"),
  ];
  t.is(lastErrorOf(await turnsOf(notes, steps, NOTES)), "another problem");
});

test("of several candidates the one that ran in the frame is named", async (t) => {
  const candidates = [candidate("a", "one"), candidate("b", "two")];
  const notes = [noted({ kind: "try", unit: "a", commands: [] }, { candidates })];
  const steps = [
    step(1, 101, { ...run("one"), root: "try-1-1" } as Move, 1),
    step(1, 201, { ...run("two"), root: "try-1-2" } as Move, 0),
    step(1, 900, { kind: "push", frame: "try-1" }, 0),
    step(1, 901, run("two"), 0),
  ];
  t.like((await turnsOf(notes, steps, NOTES))[0], { success: true, note: "kept: b" });
  t.like((await turnsOf(notes, steps.slice(0, 2), NOTES))[0], { success: false });
});

test("a verifier that is not content leaves its hint as the problem", async (t) => {
  const turns = await turnsOf([noted({ kind: "verify", hint: "" })], [], NOTES);
  t.is(lastErrorOf(turns), "pytest: 3 tests found. No module named 'x'");
});

test("what can't be tried is refused with a reason, and speculation adds what comes next", (t) => {
  const options = optionsOf({
    xpu: true,
    retriever: "direct",
    knowledge: "seed",
    speculate: 2,
    profile: "default",
  });
  const pool = [suggestion("a"), suggestion("advice", []), suggestion("b"), suggestion("c")];
  const known = {
    need: { turns: [], lastError: "x", tried: new Set(["c"]) },
    noted: [],
    trajectory: [],
    options,
  };
  const of = (unit: string) => candidatesOf({ kind: "try", unit, commands: [] }, pool, known);
  t.regex(of("nobody").refusal, /not among/);
  t.regex(of("c").refusal, /was tried/);
  t.regex(of("advice").refusal, /advice/);
  t.deepEqual(
    of("b").candidates.map(({ unit }) => unit),
    ["b", "a"],
  );
});

test("a failure is another one when something that was wrong is wrong no more", (t) => {
  const one = "E  ModuleNotFoundError: No module named 'a'\nE  ModuleNotFoundError: No module named 'b'";
  t.false(gotFurther("error: x at line 3", "error: x at line 9"));
  t.true(gotFurther(one, "E  ModuleNotFoundError: No module named 'b'"));
  t.false(gotFurther("E  No module named 'b'", "E  No module named 'b'\nE  No module named 'c'"));
});

test("arms are named by what differs from the defaults, and XPU off has no variants of its own", (t) => {
  const names = (asked: Parameters<typeof variants>[0]) => variants(asked).map(({ suffix }) => suffix);
  t.deepEqual(names({}), [""]);
  t.deepEqual(
    names({ xpu: ["on", "off"], retriever: ["selector", "direct"], knowledge: ["seed", "x/Noisy.jsonl"] }),
    ["", "+noisy", "+direct", "+direct+noisy", "+off"],
  );
  t.throws(() => variants({ speculate: ["9"] }), { instanceOf: UsageError, message: /--speculate/ });
});
