import type { DecideContext, Decision, System } from "../system.ts";
import { learnFromLast } from "./learn.ts";
import { look } from "./look.ts";
import { mainTurn } from "./main-turn.ts";
import { optionsOf, variants } from "./options.ts";
import { audit } from "./roles/audit.ts";
import { decide } from "./roles/decide.ts";
import { select } from "./roles/select.ts";
import { situation } from "./roles/situation.ts";
import { verify } from "./roles/verify.ts";
import { judgeTrial } from "./trial.ts";

/** SetupX (paper and code: docs/setupx.md): an agent that learns from set-ups of other repositories. */
export const setupx: System = {
  name: "setupx",
  title: "SetupX: six actions, experience tried on snapshots, a verifier on a fork (--model, or rules)",
  needsOracle: false,
  needsLayers: true,
  model: "optional",
  roles: [decide, situation, select, verify, audit],
  variants,
  async decide(context: DecideContext): Promise<Decision> {
    const options = optionsOf(context.options);
    switch (context.about) {
      case "setup":
        return mainTurn(context, options);
      case "verify":
        return look(context, options);
      case "trial":
        return judgeTrial(context);
      case "close":
        await learnFromLast(context, options);
        return { kind: "nothing" };
      default:
        throw new Error(`SetupX has nobody to ask about ${context.about}`);
    }
  },
};
