import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { nearest } from "./nearest.ts";
import { UsageError } from "./usage-error.ts";

const words = z.array(z.union([z.string(), z.number()]).transform(String)).min(1);
/** YAML 1.1 habits: on and off may come as true and false. */
const switches = z
  .array(z.union([z.boolean().transform((on) => (on ? "on" : "off")), z.enum(["on", "off"])]))
  .min(1);

const matrixSchema = z.strictObject({
  matrix: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  title: z.string(),
  system: z.string(),
  /** An arm for each combination of these values. */
  axes: z.strictObject({
    model: words.optional(),
    xpu: switches.optional(),
    retriever: words.optional(),
    knowledge: words.optional(),
    speculate: words.optional(),
    profile: words.optional(),
  }),
  /** Knowledge bases made for it: the units of another one, and `noise` units of noise, made from a seed, for each. */
  bases: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
      z.strictObject({ of: z.string(), noise: z.number().positive(), seed: z.int().nonnegative() }),
    )
    .default({}),
  /** Systems that run on the same repositories, to compare with. */
  beside: z.array(z.string()).default([]),
  /** Pairs of arms that are compared at the end. */
  compare: z.array(z.tuple([z.string(), z.string()])).default([]),
});

export type Matrix = z.infer<typeof matrixSchema>;

const FOLDER = new URL("matrices/", import.meta.url);

/** A matrix by name, or of a YAML or JSON file. Throws UsageError that names file, key and remedy. */
export async function loadMatrix(name: string): Promise<Matrix> {
  const file = await fileOf(name);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--matrix ${name}: can't be read (${error.code}); name a file that can`);
  });
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message.split("\n", 1)[0]}`, { cause: error });
  }
  const { data, error } = matrixSchema.safeParse(content);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new UsageError(
    `${file}: ${issue?.path.join(".") || "top level"}: ${issue?.message}; see benchmarks/matrices/setupx.yaml`,
  );
}

async function fileOf(name: string): Promise<string> {
  if (/[/.]/.test(name)) return name;
  const known = (await readdir(FOLDER))
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -5));
  if (known.includes(name)) return fileURLToPath(new URL(`${name}.yaml`, FOLDER));
  throw new UsageError(
    `--matrix ${name}: unknown; nearest: ${nearest(name, known).join(", ")}, or name a YAML file (./${name}.yaml)`,
  );
}
