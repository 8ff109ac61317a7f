import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openBase } from "../../activities/knowledge/base.ts";
import { formatUnits } from "../../activities/knowledge/jsonl.ts";
import { makeNoise } from "../../activities/knowledge/noise/noise.ts";
import { loadMatrix, type Matrix } from "../../benchmarks/matrix.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { SweepOptions } from "../cli/options.ts";

/** What a matrix says beyond the flags that it stands for. */
export interface OpenMatrix {
  name: string;
  compare: [string, string][];
  /** Where the bases are that it makes, by name. */
  bases: Record<string, string>;
}

const SAYS = ["system", "xpu", "retriever", "knowledge", "speculate", "profile", "script"] as const;

/** The options as the matrix has them, and the matrix; as they are, and null, without `--matrix`. Throws UsageError. */
export async function withMatrix(
  options: SweepOptions,
): Promise<{ options: SweepOptions; matrix: OpenMatrix | null }> {
  if (options.matrix === undefined) return { options, matrix: null };
  const given = SAYS.find((name) => options[name] !== undefined && options[name].length > 0);
  if (given !== undefined) {
    throw new UsageError(
      `--${given}: the matrix says which arms there are; leave --${given} or --matrix out`,
    );
  }
  const matrix = await loadMatrix(options.matrix);
  const { model, ...axes } = matrix.axes;
  const asked = Object.fromEntries(Object.entries(axes).filter(([, values]) => values !== undefined));
  const models = options.model.length > 0 ? options.model : (model ?? []);
  const bases: Record<string, string> = {};
  for (const [name, recipe] of Object.entries(matrix.bases)) {
    // A dry run makes nothing; what the base is made of stands for it.
    bases[name] = options.dryRun ? recipe.of : await makeBase(name, recipe, options.state);
  }
  return {
    options: { ...options, ...asked, model: models, system: [matrix.system, ...matrix.beside] },
    matrix: { name: matrix.matrix, compare: matrix.compare, bases },
  };
}

/** The same file for the same units and seed; it is read into memory, so that nothing of it changes. */
async function makeBase(name: string, recipe: Matrix["bases"][string], state: string): Promise<string> {
  const source = await openBase(recipe.of, { stateFolder: state });
  const units = await source.store.all();
  await source.store.close();
  const noise = makeNoise(units, Math.round(units.length * recipe.noise), recipe.seed);
  const folder = resolve(state, "knowledge");
  const file = join(folder, `${name}-of-${slug(recipe.of)}-${recipe.noise}-${recipe.seed}.jsonl`);
  await mkdir(folder, { recursive: true });
  await writeFileAtomically(file, formatUnits([...units, ...noise]));
  return file;
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
