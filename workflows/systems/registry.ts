import { scripted } from "./scripted/loop.ts";
import { setupx } from "./setupx/loop.ts";
import type { SystemLoop } from "./system.ts";

/** One line a system; its decisions are in activities/systems/. */
export const LOOPS: Readonly<Record<string, SystemLoop>> = {
  oracle: scripted,
  nop: scripted,
  naive: scripted,
  pipreqs: scripted,
  script: scripted,
  react: scripted,
  setupx,
};
