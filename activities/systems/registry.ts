import { naive } from "./naive/index.ts";
import { nop } from "./nop/index.ts";
import { oracle } from "./oracle/index.ts";
import { pipreqs } from "./pipreqs/index.ts";
import { react } from "./react/index.ts";
import { script } from "./script/index.ts";
import { setupx } from "./setupx/index.ts";
import type { System } from "./system.ts";

/** One line a system; its loop is in workflows/systems/registry.ts. */
export const SYSTEMS: readonly System[] = [oracle, nop, naive, pipreqs, script, react, setupx];

export function systemNamed(name: string): System | undefined {
  return SYSTEMS.find((system) => system.name === name);
}
