import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Runs the tests as pytest's own command would and prints one line, `LOOK {…}`. */
export const LOOK = `"$(command -v python3 || echo /workspace/venv/bin/python)" - <<'END_OF_LOOK'\n${readFileSync(
  join(import.meta.dirname, "look.py"),
  "utf8",
).trim()}\nEND_OF_LOOK`;

const count = z.number().int().nonnegative();
const report = z.object({
  /** pytest's; null when its time was up. */
  exit: z.number().int().nullable(),
  seconds: z.number(),
  counts: z.object({
    collected: count,
    passed: count,
    failed: count,
    error: count,
    skipped: count,
    /** Modules that could not be collected. */
    collect: count,
  }),
  /** Failures that say the same, those of collection first. */
  groups: z.array(z.object({ kind: z.string(), count, where: z.string(), text: z.string() })),
  skips: z.array(z.tuple([z.string(), count])),
  /** The end of the output, where pytest itself gave up. */
  tail: z.string(),
});

export type Report = z.infer<typeof report>;

/** The report in a look's output; null when there is none. */
export function readLook(output: string): Report | null {
  const line = /^LOOK (\{.*\})$/m.exec(output)?.[1];
  if (line === undefined) return null;
  try {
    const found = report.safeParse(JSON.parse(line));
    return found.success ? found.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
