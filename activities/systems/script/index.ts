import { z } from "zod";
import { nextOf, type System } from "../system.ts";

/** Task id → digest of its script; `*` stands for all tasks without an own one. Kept in a blob, named by the arm's options. */
const scriptMap = z.record(z.string(), z.string());

/** A script of the user's: one for all repositories, or one per repository. */
export const script: System = {
  name: "script",
  title: "a script of yours (--script FILE, or --script DIR with <task>.sh in it)",
  needsOracle: false,
  async decide({ task, options, trajectory, readBlob }) {
    const scripts = scriptMap.parse(JSON.parse(await readBlob(String(options.scripts))));
    const digest = scripts[task.id] ?? scripts["*"];
    if (digest === undefined)
      return { kind: "finish", claim: false, message: "no script for this repository" };
    return nextOf([await readBlob(digest)], trajectory);
  },
};
