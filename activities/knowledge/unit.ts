import { z } from "zod";

/** One call of an atom as it is stored. The name may be one that nothing here can render (atoms/parse.ts). */
export interface Atom {
  name: string;
  args: Record<string, unknown>;
}

/** What an agent reports of a unit that it was shown. */
export interface Telemetry {
  /** How often it was returned. */
  hits: number;
  successes: number;
  failures: number;
}

/** Where a unit comes from; leave-out decides by it (leave-out.ts). */
export interface Provenance {
  /** `seed`: written by hand; `noise`: made to mislead; `unknown`: a list that does not say. */
  made: "seed" | "distilled" | "merged" | "noise" | "unknown";
  /** The repositories whose runs taught it. Null: not known, so that nothing can be proven of it. */
  repositories: Origin[] | null;
  sweep: string | null;
  run: string | null;
  /** Ids of the units that it was made of. */
  from: string[];
}

/** A repository by every name that is known of it. */
export interface Origin {
  /** owner/name, or a distribution's name. */
  name: string;
  /** Names that it had before or has now. */
  aliases: string[];
  /** The repository that it is a fork of. */
  forkOf: string | null;
  /** Its first commit, which forks and renames share. */
  rootCommit: string | null;
}

export interface Unit {
  id: string;
  signals: Signals;
  /** Advice in plain language, one thing an item. */
  advice_nl: string[];
  atoms: Atom[];
  telemetry: Telemetry;
  provenance: Provenance;
}

interface Signals {
  /** Empty lists apply to everything. */
  applicability: { lang: string; os: string[]; python: string[]; tools: string[] };
  /** Patterns of messages; named groups fill the placeholders of atoms. */
  regex: string[];
  keywords: string[];
  /** In which situation, in plain language. */
  situation_triggers: string[];
}

/** A list, one item, or nothing; numbers (3.1 for a Python version) become text. */
const texts = z.preprocess(
  (value) => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]),
  z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String)),
);
const text = z.preprocess((value) => value ?? "", z.string());
const count = z.preprocess((value) => value ?? 0, z.int().nonnegative());

const origin = z.strictObject({
  name: z.string().min(1),
  aliases: z.array(z.string()).default([]),
  forkOf: z.string().nullable().default(null),
  rootCommit: z.string().nullable().default(null),
});

const UNKNOWN: Provenance = { made: "unknown", repositories: null, sweep: null, run: null, from: [] };

const provenance = z
  .strictObject({
    made: z.enum(["seed", "distilled", "merged", "noise", "unknown"]),
    repositories: z.array(origin).nullable(),
    sweep: z.string().nullable().default(null),
    run: z.string().nullable().default(null),
    from: z.array(z.string()).default([]),
  })
  .default(UNKNOWN);

/**
 * Reads the published record (five fields, no provenance) and our own alike. Keys that it does not know are dropped:
 * other tools add fields of theirs. Atoms of unknown names are kept.
 */
export const unitSchema: z.ZodType<Unit> = z.object({
  id: z.string().min(1).max(200),
  signals: z.object({
    applicability: z.preprocess(
      (value) => value ?? {},
      z.object({
        lang: text,
        os: texts,
        python: texts,
        tools: texts,
      }),
    ),
    regex: texts,
    keywords: texts,
    situation_triggers: texts,
  }),
  advice_nl: texts,
  atoms: z.preprocess(
    (value) => value ?? [],
    z.array(
      z.object({
        name: z.string(),
        args: z.preprocess((value) => value ?? {}, z.record(z.string(), z.unknown())),
      }),
    ),
  ),
  telemetry: z.preprocess(
    (value) => value ?? {},
    z.object({ hits: count, successes: count, failures: count }),
  ),
  provenance,
}) as z.ZodType<Unit>;
