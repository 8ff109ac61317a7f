import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** A cell as printed: a number, text that is no number, or null where the paper has none (N/A). */
const printed = z.union([z.number(), z.string(), z.null()]);

const column = z.strictObject({
  name: z.string(),
  /** Unit of the printed numbers; rates are in percent, as printed, and never turned into measurements. */
  unit: z.enum([
    "percent",
    "points",
    "count",
    "thousand tokens",
    "tokens",
    "seconds",
    "minutes",
    "megabytes",
    "ratio",
    "text",
  ]),
  /** The group field (results/metrics.ts) that measures the same thing, where one does. */
  metric: z.enum(["ebsr", "essr", "pass_rate", "self_claim", "steps_mean"]).nullable().default(null),
});

const row = z.strictObject({
  name: z.string(),
  values: z.array(printed),
  /** Set when a number is not printed but follows from printed ones; says how. */
  derived: z.string().nullable().default(null),
});

const table = z
  .strictObject({
    /** "Table 2", or the section or figure whose text states the numbers. */
    table: z.string(),
    title: z.string(),
    /** Suites of this harness that hold the same repositories. */
    suites: z.array(z.string()).default([]),
    notes: z.array(z.string()).default([]),
    columns: z.array(column).min(1),
    rows: z.array(row).min(1),
  })
  .refine(({ columns, rows }) => rows.every(({ values }) => values.length === columns.length), {
    error: "every row needs one value per column",
    path: ["rows"],
  });

const publishedPaper = z.strictObject({
  paper: z.strictObject({
    system: z.string(),
    title: z.string(),
    /** Where it is published, as far as known. */
    reference: z.string(),
  }),
  notes: z.array(z.string()).default([]),
  tables: z.array(table).min(1),
});

export type PublishedPaper = z.infer<typeof publishedPaper>;

/** One published number with the place it is printed at. */
export interface PublishedCell {
  paper: string;
  table: string;
  row: string;
  column: string;
  unit: string;
  metric: z.infer<typeof column>["metric"];
  value: number | string | null;
  derived: string | null;
}

const FOLDER = join(import.meta.dirname, "published");

/** All published papers, by file name. Throws one clear line for a file that does not fit. */
export async function loadPublished(folder = FOLDER): Promise<PublishedPaper[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".json")).sort();
  return Promise.all(
    files.map(async (file) => parsePublished(await readFile(join(folder, file), "utf8"), join(folder, file))),
  );
}

/** One paper's tables from their JSON text; `file` is named in errors. */
export function parsePublished(text: string, file: string): PublishedPaper {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: not JSON (${(error as Error).message}); mend it by hand`, { cause: error });
  }
  const parsed = publishedPaper.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `${file}: ${issue?.path.join(".")} ${issue?.message}; see results/published.ts for the shape`,
    {
      cause: parsed.error,
    },
  );
}

/** The published numbers for a suite's repositories that this harness measures too, in the papers' order. */
export function publishedFor(papers: readonly PublishedPaper[], suite: string): PublishedCell[] {
  return papers.flatMap(({ paper, tables }) =>
    tables
      .filter(({ suites }) => suites.includes(suite))
      .flatMap((each) => cellsOf(paper.system, each).filter(({ metric }) => metric !== null)),
  );
}

function cellsOf(paper: string, { table: name, columns, rows }: z.infer<typeof table>): PublishedCell[] {
  return rows.flatMap((each) =>
    columns.map((of, index) => ({
      paper,
      table: name,
      row: each.name,
      column: of.name,
      unit: of.unit,
      metric: of.metric,
      value: each.values[index] ?? null,
      derived: each.derived,
    })),
  );
}
