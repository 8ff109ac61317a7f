import { z } from "zod";
import type { Role } from "../../model/role.ts";
import { ATOM_NAMES } from "../atoms/parse.ts";

const input = z.object({ language: z.string(), commands: z.string(), errors: z.string() });

const text = z.array(z.string());

const unit = z.object({
  situation: z.string().describe("When this shows, in one sentence."),
  patterns: text.describe("Regular expressions that match the message in the output, as general as is safe."),
  keywords: text.describe("Words that occur in such a message."),
  tools: text.describe("Tools that it is about, such as pip."),
  advice: text.describe("What to do, one thing an item, at most seven."),
  atoms: z.array(
    z.object({
      name: z.enum(ATOM_NAMES as [string, ...string[]]),
      target: z.string().describe("The package, packages with spaces between, variable, flag, or command."),
      value: z.string().describe("Its version specifier or value; else empty."),
    }),
  ),
});

const output = z.object({
  decision: z.enum(["skip", "units"]),
  reason: z.string().describe("One sentence."),
  units: z.array(unit).describe("One for each cause, in the order in which they were met; empty with skip."),
});

export type DistilledUnit = z.infer<typeof unit>;

/** What others can learn from a run, as a model reads it. Whether it is true is not left to the model: by-model.ts. */
export const distiller: Role<z.infer<typeof input>, z.infer<typeof output>> = {
  name: "distiller",
  input,
  output,
  instructions: `You read how a code repository was set up, and write down what would help with other repositories: problems that \
showed as messages, and what ended them. For each failure find the later command that ended it; several failures with one \
cause are one unit. Abstract from this repository: neither its name nor its modules may occur, only tools, packages that were \
installed and messages that others get as well. A pattern must match the message as it was printed. Advice that was never \
carried out, or did not help, is worth nothing; say skip when nothing was mended.`,
  render: ({ language, commands, errors }) => [
    { role: "user", content: `${language}\n\nCommands:\n${commands}\n\nFailures:\n${errors || "(none)"}` },
  ],
};
