import type { CommonOptions } from "../cli/options.ts";
import type { Check } from "../stack/doctor/check.ts";
import { diagnose } from "../stack/doctor/diagnose.ts";
import { fix } from "../stack/doctor/fix.ts";
import { renderChecks } from "../stack/doctor/text.ts";

/** Prints what this machine has and lacks, after putting it right when asked to. 0: nothing is missing, else 2. */
export async function doctorCommand(options: CommonOptions, isFixing: boolean): Promise<number> {
  const about = { stateFolder: options.state, temporalAddress: options.address };
  let checks = await diagnose(about);
  if (isFixing && checks.some((check) => check.state === "missing")) {
    await fix(checks, {
      stateFolder: options.state,
      progress: (line) => process.stderr.write(`${line}\n`),
    });
    checks = await diagnose(about);
  }
  print(checks, options.json);
  return checks.some((check) => check.state === "missing") ? 2 : 0;
}

function print(checks: readonly Check[], json: boolean): void {
  const colour = process.stdout.isTTY && !process.env.NO_COLOR;
  process.stdout.write(json ? `${JSON.stringify(checks, null, 2)}\n` : renderChecks(checks, colour));
}
