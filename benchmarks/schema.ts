import { z } from "zod";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits (sha256)");
const revision = z.string().regex(/^[0-9a-f]{40}$/, "must be a full 40-digit commit id");

/** Where a task's repository comes from. A null git revision means the suite pins none: such a task can't be run. */
const source = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("git"), repository: z.url(), revision: revision.nullable() }),
  z.strictObject({
    kind: z.literal("sdist"),
    name: z.string(),
    version: z.string(),
    file: z.string(),
    sha256,
  }),
  z.strictObject({ kind: z.literal("archive"), url: z.url(), sha256 }),
  /** A folder of this machine; a relative path is taken from the suite file's folder. */
  z.strictObject({ kind: z.literal("directory"), path: z.string().min(1) }),
]);

/** Tests known to pass in a right environment: their ids in a file (one a line, beside the suite), inline, or only their number. */
const gold = z.union(
  [
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({ ids: z.array(z.string()).min(1) }),
    z.strictObject({ count: z.int().positive() }),
  ],
  { error: 'must be {"file": "…"}, {"ids": ["…"]} or {"count": a positive number}' },
);

/** Recorded result of a plain set-up (venv, install the project, install pytest), to compare a fresh one with. */
const naiveResult = z.strictObject({
  install_ok: z.boolean(),
  collect_ok: z.boolean(),
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  errors: z.int().nonnegative(),
});

const task = z.strictObject({
  /** Unique in its suite; becomes part of cell ids and folder names. */
  id: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/,
      "must be name or owner/name, of letters, digits, dot, underscore and dash",
    )
    .max(150, "must have at most 150 characters: it becomes part of folder names"),
  source,
  language: z.string().default("python"),
  tier: z.enum(["low", "medium", "high"]).nullable().default(null),
  area: z.string().nullable().default(null),
  gold: gold.nullable().default(null),
  /** A set-up script known to work, run with bash from /workspace/repo as root. */
  oracle: z
    .strictObject({ script: z.string().min(1) })
    .nullable()
    .default(null),
  naive: naiveResult.nullable().default(null),
  /** Everything else that the source list says about the task, kept as found. */
  facts: z.record(z.string(), z.unknown()).default({}),
});

const suiteName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}$/, "must be lower-case letters, digits and dashes, 60 at most");

export const suite = z.strictObject({
  suite: suiteName,
  title: z.string(),
  /** Where the list comes from, with revisions. */
  source: z.string(),
  license: z.string().nullable().default(null),
  /** Oddities that a reader of results should know. */
  notes: z.array(z.string()).default([]),
  tasks: z.array(task).min(1),
});

/** A suite that picks tasks of another one instead of repeating them; source and licence are the other one's. */
export const selection = z.strictObject({
  suite: suiteName,
  title: z.string(),
  notes: z.array(z.string()).default([]),
  /** A registered name, or a file; a relative path is taken from this file's folder. */
  from: z.string().min(1),
  /** Ids of the other suite, in the order wanted. */
  tasks: z.array(z.string()).min(1),
});

export type Source = z.infer<typeof source>;
export type Gold = z.infer<typeof gold>;
export type Task = z.infer<typeof task>;
export type Suite = z.infer<typeof suite>;
export type Selection = z.infer<typeof selection>;
