import { z } from "zod";
import type { Message, Role } from "../../model/role.ts";

const observed = z.object({
  command: z.string(),
  /** How it ended, in a few words. */
  result: z.string(),
  output: z.string(),
});

const input = z.object({
  task: z.string(),
  language: z.string(),
  steps: z.array(observed),
  stepsLeft: z.int().nonnegative(),
});

const output = z
  .object({
    thought: z.string().describe("One or two sentences: what is known, and what to do next."),
    action: z.enum(["run", "finish"]),
    command: z.string().describe("With run: the shell command. With finish: empty."),
    ready: z
      .boolean()
      .describe("With finish: whether the tests can be collected and run now. With run: false."),
  })
  .refine(({ action, command }) => action === "finish" || command.trim() !== "", {
    path: ["command"],
    error: "must not be empty when the action is run",
  });

const INSTRUCTIONS = `You set up a code repository so that its tests can run. It lies in /workspace/repo, in a Debian \
container where you are root; the network reaches package registries. You act by one shell command at a time and see \
what it prints.

What counts: your commands that exit 0 are run again, in order and without you, in a fresh container. There the tests are \
collected and run with pytest, without a network. So
- install everything that the tests need, pytest too, into the Python environment /workspace/venv (make it first), or \
into the repository's .venv;
- a command runs with bash in /workspace/repo, each in a shell of its own: directories and variables do not last;
- never wait for input (use -y, --yes), and start nothing that stays in the background;
- a command that exits with another code is forgotten: what you need of it must be done again by one that succeeds;
- change no test and no source of the repository; look as much as you like.

Look at the repository first (its manifests, requirements, CI files), then install, then check with \
"/workspace/venv/bin/python -m pytest --collect-only -q". Finish as soon as collection works, or when nothing more can be \
done, and then say honestly whether it is ready.`;

export type ReactInput = z.infer<typeof input>;

/** The one question of the agent: given all that was done and seen, what next? */
export const step: Role<ReactInput, z.infer<typeof output>> = {
  name: "setup",
  input,
  output,
  instructions: INSTRUCTIONS,
  render: ({ task, language, steps, stepsLeft }) => {
    const earlier: Message[] = [];
    let last = `Repository: ${task} (${language}).`;
    for (const { command, result, output: seen } of steps) {
      earlier.push({ role: "user", content: last });
      earlier.push({ role: "assistant", content: JSON.stringify({ action: "run", command }) });
      last = `${result}\n${seen}`.trimEnd();
    }
    // At the very end, so that all before it stays the same from step to step and endpoints can cache it; and in no
    // message of its own, since some models take only turns of user and assistant.
    const note = stepsLeft <= 5 ? `\n\n${stepsLeft} commands are left.` : "";
    return [...earlier, { role: "user", content: `${last}${note}` }];
  },
};
