import type { Command } from "commander";
import { UsageError } from "../../benchmarks/usage-error.ts";

/**
 * Flags given before the verb count for the verb: `bench --state DIR status`. Throws UsageError for one that the verb
 * does not take; ignoring it would do something other than was asked for.
 */
export function inheritFlags(program: Command, verb: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) !== "cli") continue;
    if (!verb.options.some((own) => own.attributeName() === name)) {
      throw new UsageError(
        `${option.long}: ${verb.name()} does not take it; see: pnpm bench ${verb.name()} --help`,
      );
    }
    if (verb.getOptionValueSource(name) !== "cli") {
      verb.setOptionValueWithSource(name, program.getOptionValue(name), "cli");
    }
  }
}
