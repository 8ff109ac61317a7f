import type { Command } from "commander";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { commandsOf } from "./commands-of.ts";

const YES = ["1", "true", "yes", "on"];
const NO = ["", "0", "false", "no", "off"];

/**
 * Takes what `BENCH_JSON=false` and its like say; the library would take any value of a switch's variable for yes.
 * Called after the configuration file, which a variable goes before. Throws UsageError for what is neither.
 */
export function applySwitches(program: Command, environment: NodeJS.ProcessEnv): void {
  const taken = new Set<string>();
  for (const command of commandsOf(program)) {
    for (const option of command.options) {
      const { envVar = "" } = option;
      const value = environment[envVar]?.trim().toLowerCase();
      if (!option.isBoolean() || value === undefined) continue;
      if (!YES.includes(value) && !NO.includes(value)) {
        throw new UsageError(`${envVar}: must be true or false, not ${JSON.stringify(value)}`);
      }
      command.setOptionValueWithSource(option.attributeName(), YES.includes(value), "env");
      taken.add(envVar);
    }
  }
  // So that the library does not take them once more; a flag still goes before.
  for (const name of taken) delete environment[name];
}
