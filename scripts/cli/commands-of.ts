import type { Command } from "commander";

/** The command, its verbs, and the verbs of these. */
export function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}
