import type { DecideInput, DecideOutput } from "../roles/decide.ts";
import { finish, shell, tryUnit, verify } from "./answers.ts";

const PYTHON = "/workspace/venv/bin/python";
const PLAN = [
  "python3 -m venv /workspace/venv",
  `${PYTHON} -m pip install pytest`,
  `${PYTHON} -m pip install -e .`,
];

/** SetupX's main agent as rules: the next action, decided by the turns so far alone. */
export function decideByRules({ turns, suggestions, lastError }: DecideInput): DecideOutput {
  const last = turns.at(-1);
  const suggestion = suggestions.find(({ commands }) => commands.length > 0);
  if (lastError !== null && suggestion !== undefined) {
    return tryUnit("A known failure.", suggestion.unit);
  }
  const ran = new Set(turns.flatMap(({ action }) => (action.kind === "shell" ? [action.command] : [])));
  const next = PLAN.find((command) => !ran.has(command));
  if (next !== undefined) return shell("The next step of the plan.", next);
  if (last?.action.kind !== "verify") return verify("All is installed.", "");
  return finish("Nothing is left to do.", last.success, last.note);
}
