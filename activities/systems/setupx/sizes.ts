import type { SetupxOptions } from "./options.ts";

/** How much each role is shown and picks. */
export interface Sizes {
  /** Turns of the main agent's history, and characters of each of their outputs. */
  turns: number;
  characters: number;
  /** Characters of the failure in a situation. */
  error: number;
  /** Units that the Selector chooses from, and how many it may choose; Direct takes as many. */
  candidates: number;
  chosen: number;
  /** Turns after a recommendation by which it is judged. */
  audited: number;
}

/** `published`: the numbers of the paper's code. `default` shows more, since today's models take more. */
export const SIZES: Readonly<Record<SetupxOptions["profile"], Sizes>> = {
  published: { turns: 10, characters: 2_000, error: 1_500, candidates: 10, chosen: 3, audited: 5 },
  default: { turns: 40, characters: 4_000, error: 6_000, candidates: 10, chosen: 3, audited: 5 },
};
