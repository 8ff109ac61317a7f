import type { System } from "../system.ts";

/** Does nothing at all: the floor. A suite where it passes anything measures nothing. */
export const nop: System = {
  name: "nop",
  title: "does nothing (floor)",
  needsOracle: false,
  async decide() {
    return { kind: "finish", claim: false, message: "nothing was done" };
  },
};
