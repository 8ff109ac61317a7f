import { type Command, InvalidArgumentError } from "commander";
import { list } from "./lists.ts";
import { option } from "./options.ts";

/** Options of single systems; a list makes an arm for each value. What is left out is as the system has it. */
export interface SystemOptions {
  matrix?: string;
  script?: string;
  xpu?: string[];
  retriever?: string[];
  knowledge?: string[];
  knowledgeLive: boolean;
  speculate?: string[];
  profile?: string[];
}

export function addSystemOptions(command: Command): Command {
  return command
    .addOption(
      option("--matrix <name|file>", "arms of a matrix: a name (setupx) or a YAML file (docs/matrices.md)"),
    )
    .addOption(option("--script <file|dir>", "for the system `script`: one script, or a folder of <task>.sh"))
    .addOption(
      option("--xpu <on|off>", "for setupx: whether it is given experience; on,off compares").argParser(
        oneOf(["on", "off"]),
      ),
    )
    .addOption(
      option(
        "--retriever <kinds>",
        "for setupx: selector (a role chooses) or direct (the first ones)",
      ).argParser(oneOf(["selector", "direct"])),
    )
    .addOption(
      option(
        "--knowledge <bases>",
        "for setupx: frozen knowledge bases, else seed (docs/knowledge.md)",
      ).argParser(list),
    )
    .addOption(option("--knowledge-live", "let runs teach the bases as they go").default(false))
    .addOption(
      option("--speculate <n>", "for setupx: candidates that a try runs at the same time").argParser(
        oneOf(["1", "2", "3", "4", "5", "6", "7", "8"]),
      ),
    )
    .addOption(
      option("--profile <names>", "for setupx: default, or published (the paper's numbers)").argParser(
        oneOf(["default", "published"]),
      ),
    );
}

function oneOf(known: readonly string[]): (text: string, before?: string[]) => string[] {
  return (text, before) => {
    const values = list(text, before);
    const wrong = values.find((value) => !known.includes(value));
    if (wrong !== undefined) throw new InvalidArgumentError(`${wrong}: there are ${known.join(", ")}.`);
    return values;
  };
}
