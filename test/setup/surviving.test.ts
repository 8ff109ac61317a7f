import test from "ava";
import { execa } from "execa";
import fc from "fast-check";
import { survivingSteps, valuesOf } from "../../activities/setup/surviving.ts";
import { expanded, expansion, NO_VALUES, parseValues, renderValues } from "../../activities/setup/values.ts";
import type { Step } from "../../activities/store/trajectory.ts";
import type { Move } from "../../workflows/moves.ts";

let count = 0;

function step(move: Move, exit: number | null = 0, environment?: Record<string, string>): Step {
  const nothing = { text: "", bytes: 0, omitted: 0 };
  return {
    step: ++count,
    part: 0,
    move,
    command: move.kind === "command" ? move.script : null,
    values: environment ? { environment, umask: null } : null,
    observation: { exit, end: "exited", seconds: 1, stdout: nothing, stderr: nothing },
  };
}

const command = (script: string, exit = 0, root?: string) =>
  step({ kind: "command", script, seconds: null, ...(root && { root }) }, exit);
const set = (name: string, value: string) => step({ kind: "environment", values: "d" }, 0, { [name]: value });
const commandsOf = (steps: readonly Step[]) => steps.flatMap((one) => one.command ?? []);

test("failed commands are dropped, and so is what was done in a frame that was popped", (t) => {
  const { main } = survivingSteps([
    command("a"),
    command("failed", 1),
    step({ kind: "push", frame: "one" }),
    command("b"),
    step({ kind: "push", frame: "two" }),
    command("c"),
    step({ kind: "pop", frame: "one" }),
    command("d"),
  ]);
  t.deepEqual(commandsOf(main), ["a", "d"]);
});

test("variables belong to the frame in which they were set", (t) => {
  const steps = [set("A", "1"), step({ kind: "push", frame: "f" }), set("A", "2"), set("B", "3")];
  t.deepEqual(valuesOf(survivingSteps(steps), "main").environment, { A: "2", B: "3" });
  const back = [...steps, step({ kind: "pop", frame: "f" })];
  t.deepEqual(valuesOf(survivingSteps(back), "main").environment, { A: "1" });
});

test("what is done on a fork is the fork's until it is dropped, and never the main root's", (t) => {
  const steps = [command("a"), step({ kind: "fork", root: "side" }), command("b", 0, "side")];
  t.deepEqual(commandsOf(survivingSteps(steps).main), ["a"]);
  t.deepEqual(commandsOf(survivingSteps(steps).forks.get("side") ?? []), ["b"]);
  t.is(survivingSteps([...steps, step({ kind: "drop", root: "side" })]).forks.size, 0);
});

test("after any pushes and a pop of the first one, what was before it is what holds", (t) => {
  const inside = fc.array(fc.oneof(fc.constant("command"), fc.constant("push"), fc.constant("set")), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(inside, (kinds) => {
      const before = [command("a"), set("A", "1")];
      const done = kinds.map((kind, index) =>
        kind === "command"
          ? command(`c${index}`)
          : kind === "set"
            ? set("A", `${index}`)
            : step({ kind: "push", frame: `f${index}` }),
      );
      const all = [
        ...before,
        step({ kind: "push", frame: "first" }),
        ...done,
        step({ kind: "pop", frame: "first" }),
      ];
      t.deepEqual(survivingSteps(all).main, before);
    }),
  );
});

test("whatever a value holds reaches bash as it is, and only references to variables are replaced", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 20 }), async (text) => {
      const value = text.replaceAll("\0", "").replaceAll("$", "");
      const values = { environment: { A: value, B: "$HERE and $HERE" }, umask: "022" };
      t.deepEqual(parseValues(renderValues(values)), values);
      const { stdout } = await execa("bash", ["-c", expansion(values)], { env: { HERE: "there" } });
      t.deepEqual(expanded(values, stdout), {
        environment: { A: value, B: "there and there" },
        umask: "022",
      });
    }),
    { numRuns: 30 },
  );
  t.is(NO_VALUES.umask, null);
});

test("values that are no variables are refused", (t) => {
  t.throws(() => renderValues({ environment: { "A B": "" }, umask: null }));
  t.throws(() => renderValues({ environment: {}, umask: "0; rm -rf /" }));
});
