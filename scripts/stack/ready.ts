import { UsageError } from "../../benchmarks/usage-error.ts";
import { TEMPORAL } from "./doctor/check.ts";
import { diagnoseLocally } from "./doctor/diagnose.ts";
import { isFixable } from "./doctor/fix.ts";

/** Throws UsageError, one line, when this machine lacks something without which no sweep can run. */
export async function checkReady(state: string, address?: string): Promise<void> {
  const checks = await diagnoseLocally({ stateFolder: state, temporalAddress: address });
  // The Temporal CLI is installed on demand; python3, which that needs, is a check of its own.
  const missing = checks.filter((check) => check.state === "missing" && check.name !== TEMPORAL);
  if (missing.length === 0) return;
  const named = missing.map((check) => `${check.name} (${check.found})`).join(", ");
  const [only] = missing;
  const byFix = missing.some(isFixable);
  const remedy = byFix || !only?.remedy ? "pnpm bench doctor --fix" : only.remedy;
  throw new UsageError(`this machine is not ready: ${named}. Remedy: ${remedy}`);
}
