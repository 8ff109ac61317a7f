import test from "ava";
import { OverflowError } from "../../activities/model/run-role.ts";
import { notesOf } from "../../activities/store/notes.ts";
import type { Step } from "../../activities/store/trajectory.ts";
import { react } from "../../activities/systems/react/index.ts";
import { type ReactInput, step } from "../../activities/systems/react/role.ts";
import type { System } from "../../activities/systems/system.ts";

type Context = Parameters<System["decide"]>[0];

function did(command: string, exit: number, stdout: string): Step {
  const output = (text: string) => ({ text, bytes: text.length, omitted: 0 });
  return {
    step: 1,
    part: 0,
    move: { kind: "command", script: "d", seconds: null },
    values: null,
    command,
    observation: { exit, end: "exited", seconds: 1.4, stdout: output(stdout), stderr: output("") },
  };
}

function context(trajectory: Step[], ask: (input: ReactInput) => unknown): Context {
  return {
    task: { id: "owner/name", language: "python" } as Context["task"],
    ...{ run: "s/c/1", options: {}, step: trajectory.length + 1, part: 0, about: "setup" },
    trajectory,
    maxSteps: 10,
    ask: (async (_: unknown, input: ReactInput) => ask(input)) as Context["ask"],
    notes: notesOf({ folder: "/nonexistent", sweep: "s", cell: "c", attempt: 1 }),
    knowledge: () => Promise.reject(new Error("react has no knowledge base")),
    readBlob: async () => "",
  };
}

test("the steps so far become a conversation whose beginning does not change", (t) => {
  const of = (steps: Step[]) => {
    const seen: ReactInput[] = [];
    return react
      .decide(
        context(
          steps,
          (input) => seen.push(input) && { thought: "", action: "run", command: "ls", ready: false },
        ),
      )
      .then(() => step.render(seen[0] as ReactInput).map(({ role, content }) => `${role}: ${content}`));
  };
  const [first, second] = [did("ls", 0, "setup.py"), did("pip install .", 1, "no")];
  return Promise.all([of([first]), of([first, second])]).then(([one, two]) => {
    t.deepEqual(two.slice(0, one.length), one);
    t.is(two[1], 'assistant: {"action":"run","command":"ls"}');
    t.is(two[4], "user: [exit 1, 1 s]\nstdout:\nno");
  });
});

test("a conversation that is too long is tried with less of each output, then given up", async (t) => {
  const sizes: number[] = [];
  const steps = [did("cat", 0, `${"a".repeat(5_000)}END`)];
  const tooLong = (input: ReactInput) => {
    sizes.push(input.steps[0]?.output.length ?? 0);
    t.regex(input.steps[0]?.output ?? "", /left out.*END$/s);
    throw new OverflowError("too long");
  };
  await t.throwsAsync(react.decide(context(steps, tooLong)), { instanceOf: OverflowError });
  t.is(sizes.length, 3);
  t.true((sizes[0] ?? 0) > (sizes[1] ?? 0) && (sizes[1] ?? 0) > (sizes[2] ?? 0));
});

test("the last commands are counted down", (t) => {
  const input = { task: "t", language: "python", steps: [], stepsLeft: 5 };
  t.regex(step.render(input).at(-1)?.content ?? "", /\n5 commands are left\.$/);
  t.is(step.render({ ...input, stepsLeft: 6 }).at(-1)?.content, "Repository: t (python).");
});

test("an empty command is no answer", (t) => {
  const answer = { thought: "", action: "run", command: " ", ready: false };
  t.false(step.output.safeParse(answer).success);
  t.true(step.output.safeParse({ ...answer, action: "finish" }).success);
});
