import { nextOf, type System } from "../system.ts";

/** The suite's recipe known to work: the ceiling that a suite must reach before anyone spends money on it. */
export const oracle: System = {
  name: "oracle",
  title: "the suite's own recipe, known to work (ceiling)",
  needsOracle: true,
  async decide({ task, trajectory }) {
    if (task.oracle === null)
      return { kind: "finish", claim: false, message: "the suite has no recipe for this task" };
    return nextOf([task.oracle.script], trajectory);
  },
};
