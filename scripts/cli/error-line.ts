import { type Command, CommanderError } from "commander";
import { nearest } from "../../benchmarks/nearest.ts";

/** What went wrong, in one line that says what to do; a wrong command line points to the help that is nearest. */
export function errorLine(error: unknown, program: Command): string {
  if (!(error instanceof CommanderError)) {
    // What a server or a tool said may have several lines.
    return (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\s*\n\s*/g, " · ");
  }
  const names = program.commands.map((command) => command.name());
  const given = program.args[0];
  const isVerb = given !== undefined && names.includes(given);
  const said =
    error.code === "commander.excessArguments" && given !== undefined && !isVerb
      ? `unknown verb ${given}; nearest: ${nearest(given, names).join(", ")}`
      : error.message
          .trim()
          .replace(/^error: /, "")
          .replace(/\.?\n\(Did you mean (.*)\?\)$/, "; nearest: $1")
          .replace(/\.$/, "");
  return `${said}; see: pnpm bench ${isVerb ? `${given} ` : ""}--help`;
}
