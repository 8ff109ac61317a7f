import type { VerifyInput, VerifyOutput } from "../roles/verify.ts";
import { judge, look } from "./answers.ts";

const COLLECT = "timeout -k 10 280 /workspace/venv/bin/python -m pytest --collect-only -q 2>&1 | tail -n 60";

/** SetupX's verifier as rules: collects on the fork, and says what stands in the way. */
export function verifyByRules({ looks }: VerifyInput): VerifyOutput {
  const collected = looks[0];
  if (collected === undefined) return look("Are tests found?", `set -o pipefail; ${COLLECT}`);
  const text = collected.result?.stdout ?? "";
  const count = Number(/(\d+) tests? collected/.exec(text)?.[1] ?? 0);
  const success = collected.result?.exit === 0 && count > 0;
  return judge("Collection decides.", {
    success,
    hint: success ? "" : text.slice(-4_000),
    framework: "pytest",
    collected: count,
  });
}
