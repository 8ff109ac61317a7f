import { z } from "zod";
import { middleLeftOut } from "../../../middle-left-out.ts";
import type { Role } from "../../../model/role.ts";
import { verifyByRules } from "../rules/verify.ts";
import { result } from "./turn.ts";

const input = z.object({
  task: z.string(),
  language: z.string(),
  /** What the agent says. */
  hint: z.string(),
  /** What was looked at so far, on the copy. */
  looks: z.array(z.object({ command: z.string(), result: result.nullable() })),
  looksLeft: z.int().nonnegative(),
  characters: z.int().positive(),
});

const output = z
  .object({
    thought: z.string().describe("One or two sentences."),
    action: z.enum(["run", "finish"]),
    command: z.string().describe("With run: the shell command. With finish: empty."),
    success: z.boolean().describe("With finish: whether the environment is good. With run: false."),
    hint: z
      .string()
      .describe("With finish and no success: what is wrong, with the message itself. Else empty."),
    framework: z.string().describe("With finish: what runs the tests, such as pytest. Else empty."),
    collected: z.int().describe("With finish: how many tests were found. Else 0."),
  })
  .refine(({ action, command }) => action === "finish" || command.trim() !== "", {
    path: ["command"],
    error: "must not be empty when the action is run",
  });

export type VerifyInput = z.infer<typeof input>;
export type VerifyOutput = z.infer<typeof output>;

const INSTRUCTIONS = `Somebody set up the repository in /workspace/repo and says that its tests can run. You look, on a \
copy that is thrown away: nothing that you change lasts, so do not repair. Each turn run one bash command in /workspace/repo, \
or finish.

Find the interpreter that was set up (/workspace/venv, then .venv, then python3), see where the tests are and what runs \
them, collect them all, then run them (with a time limit; a part of them if they are slow). Ask of each failure why it fails.
No success: a package, header, tool or service that could be installed is missing, the project itself can't be imported, or \
versions do not fit together; put the message into the hint. Success: tests are found without an error and run; failures of \
their own logic, of the outside network or of optional extras that are skipped do not count. Without any test: a small \
script that imports the project decides.`;

/** Looks at the environment in a context of its own, on a fork, so that nothing it does can stay. */
export const verify: Role<VerifyInput, VerifyOutput> = {
  name: "verifier",
  input,
  output,
  instructions: INSTRUCTIONS,
  render: ({ task, language, hint, looks, looksLeft, characters }) => {
    const shown = (text: string) => middleLeftOut(text, characters);
    const about = `Repository: ${task} (${language}).${hint ? `\nThe agent says: ${hint}` : ""}`;
    return [
      ...looks.flatMap(({ command }, index) => [
        { role: "user" as const, content: said(looks[index - 1]?.result, about, shown) },
        { role: "assistant" as const, content: JSON.stringify({ action: "run", command }) },
      ]),
      {
        role: "user" as const,
        content: `${said(looks.at(-1)?.result, about, shown)}${looksLeft <= 3 ? `\n\n${looksLeft} commands are left.` : ""}`,
      },
    ];
  },
  rules: verifyByRules,
};

function said(
  last: z.infer<typeof result> | null | undefined,
  about: string,
  shown: (text: string) => string,
): string {
  if (last === undefined) return about;
  if (last === null) return "(nothing is known of it)";
  const how = last.end === "exited" ? `exit ${last.exit}` : `ended: ${last.end}`;
  return `[${how}]\nstdout:\n${shown(last.stdout)}\nstderr:\n${shown(last.stderr)}`;
}
