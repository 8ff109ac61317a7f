import { z } from "zod";
import type { Role } from "../../../model/role.ts";
import { tellingLines } from "../failure.ts";

const input = z.object({
  language: z.string(),
  /** The last commands with how they ended, the latest last. */
  commands: z.array(z.object({ command: z.string(), exit: z.int().nullable() })),
  error: z.string(),
});

const output = z.object({
  summary: z.string().describe("Two short sentences, at most 150 characters, without names of the project."),
});

/** Says in a few words what is going on, so that experience is searched for the situation and not for the words alone. */
export const situation: Role<z.infer<typeof input>, z.infer<typeof output>> = {
  name: "situation",
  input,
  output,
  instructions: `Something failed while a code repository was being set up. Say in two short sentences what was attempted and \
what is wrong, so that somebody who met the same elsewhere recognises it: tools, packages and messages by their names, no \
guesses, nothing about the project itself.`,
  render: ({ language, commands, error }) => [
    {
      role: "user",
      content: `${language}\n${commands.map(({ command, exit }) => `[exit ${exit ?? "unknown"}] ${command}`).join("\n")}\n\n${error}`,
    },
  ],
  rules: ({ error }) => ({ summary: ([...tellingLines(error)].at(-1) ?? "").slice(0, 150) }),
};
