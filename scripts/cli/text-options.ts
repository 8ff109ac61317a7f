import type { TextOptions } from "../../results/text-table.ts";

/** How tables are shown on standard output: as wide as the terminal, and in colour only there. */
export function textOptions(): TextOptions {
  return {
    width: process.stdout.columns ?? 100,
    color: process.stdout.isTTY && !process.env.NO_COLOR,
  };
}
