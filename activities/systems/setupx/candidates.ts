import type { Step } from "../../store/trajectory.ts";
import type { TurnNote } from "./note.ts";
import type { SetupxOptions } from "./options.ts";
import type { Need } from "./retrieve.ts";
import type { AgentAction, Suggestion } from "./roles/turn.ts";

interface Known {
  need: Need | null;
  noted: readonly TurnNote[];
  trajectory: readonly Step[];
  options: SetupxOptions;
}

type Tried = Pick<TurnNote, "candidates" | "refusal">;

/**
 * What a try runs: the unit that the agent named, adapted or as its atoms render, and with --speculate those that come
 * next. What can't be run is refused with a reason that the agent reads.
 */
export function candidatesOf(
  action: Extract<AgentAction, { kind: "try" }>,
  pool: readonly Suggestion[],
  { need, noted, trajectory, options }: Known,
): Tried {
  const refused = (refusal: string): Tried => ({ candidates: [], refusal });
  const named = pool.find(({ unit }) => unit === action.unit);
  if (named === undefined)
    return refused(`${action.unit}: not among the present suggestions, nothing was run`);
  if (need?.tried.has(action.unit)) return refused(`${action.unit}: was tried before, nothing was run`);
  const check = options.profile === "published" ? null : checkOf(noted, trajectory);
  const first = { ...named, commands: action.commands.length > 0 ? action.commands : named.commands };
  if (!runs(first)) return refused(`${action.unit}: is advice and has nothing to run; act on it yourself`);
  const others = pool.filter(
    (other) => other.unit !== action.unit && runs(other) && !need?.tried.has(other.unit),
  );
  const candidates = [first, ...others]
    .slice(0, options.speculate)
    .map(({ unit, commands, environment, umask }) => ({
      unit,
      commands,
      values: { environment, umask },
      check,
    }));
  return { candidates, refusal: "" };
}

function runs({ commands, environment, umask }: Suggestion): boolean {
  return commands.length > 0 || umask !== null || Object.keys(environment).length > 0;
}

/** A check that takes longer than this says too little for its time. */
const CHECK_SECONDS = 180;

/** The command that failed: of the last turn that ran one, or the verifier's. */
function checkOf(noted: readonly TurnNote[], trajectory: readonly Step[]): string | null {
  for (let turn = noted.length; turn >= 1; turn--) {
    const { kind } = noted[turn - 1]?.action ?? {};
    if (kind !== "shell" && kind !== "verify") continue;
    const failed = trajectory.findLast(
      ({ step, move, observation }) => step === turn && move.kind === "command" && observation?.exit !== 0,
    );
    const seconds = failed?.observation?.seconds ?? 0;
    return seconds > CHECK_SECONDS ? null : (failed?.command ?? null);
  }
  return null;
}
