import { VERIFIER_LOOKS } from "../../policies.ts";
import type { SystemContext } from "../system.ts";

/**
 * A verifier with a context of its own looks at the environment on a fork, which is dropped: nothing that it does can
 * reach the set-up. Gives whether the environment is good.
 */
export async function verifyOnFork(context: SystemContext, turn: number): Promise<boolean> {
  const root = `verify-${turn}`;
  await context.act(turn, { kind: "fork", root }, 1);
  let good = false;
  for (let look = 1; look <= VERIFIER_LOOKS; look++) {
    const action = await context.decide(turn, look + 1, "verify");
    if (action.kind === "finish") {
      good = action.claim === true;
      break;
    }
    if (action.kind !== "command") throw new Error(`${action.kind} is nothing that a verifier can choose`);
    if (context.secondsLeft() <= 0) break;
    await context.act(turn, { ...action, root }, look + 1);
  }
  await context.act(turn, { kind: "drop", root }, VERIFIER_LOOKS + 2);
  return good;
}
