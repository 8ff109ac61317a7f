import type { Simulation } from "../../scripts/benchmark/simulated.ts";
import type { Action, Candidate } from "../../workflows/moves.ts";

const command = (script: string): Action => ({ kind: "command", script, seconds: null });
const candidate = (name: string, check: string | null = null): Candidate => ({
  ...{ values: `${name}-values`, scripts: [`${name}-1`, `${name}-2`], check },
});

const TURNS: readonly Action[] = [
  command("first"),
  { kind: "environment", values: "variables" },
  { kind: "try", candidates: [candidate("good", "works")] },
  { kind: "try", candidates: [candidate("bad")] },
  { kind: "try", candidates: [candidate("unhelpful", "fails")] },
  { kind: "try", candidates: [candidate("bad"), candidate("other", "works")] },
  { kind: "nothing" },
  { kind: "rollback", frames: 1 },
  { kind: "rollback", frames: 9 },
  { kind: "verify" },
  { kind: "verify" },
];

/** A SetupX whose turns use every action; texts are named instead of digested. What has `bad` or `fails` in it fails. */
export function everyAction(changes: Partial<Simulation> = {}): Simulation {
  return {
    ...{ cells: 2, steps: 0, system: "setupx" },
    exits: (text) => (/bad-2|fails/.test(text) ? 1 : 0),
    decides: (turn, part, about) => {
      if (about === "trial") return { kind: "undo" };
      if (about === "close") return { kind: "nothing" };
      if (about === "setup")
        return TURNS[turn - 1] ?? { kind: "finish", claim: false, message: "no turn is left" };
      if (part === 2) return command(`look-${turn}`);
      return { kind: "finish", claim: turn === TURNS.length, message: "looked" };
    },
    ...changes,
  };
}
