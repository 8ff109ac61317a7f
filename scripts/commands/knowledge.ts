import { writeFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { type Base, freezeBase, openBase, putUnits, SEED } from "../../activities/knowledge/base.ts";
import { diffUnits } from "../../activities/knowledge/diff.ts";
import { formatPublished, formatUnits, readUnits } from "../../activities/knowledge/jsonl.ts";
import { absorb, dedup } from "../../activities/knowledge/merge/absorb.ts";
import { judgeByRules } from "../../activities/knowledge/merge/judge.ts";
import { makeNoise } from "../../activities/knowledge/noise/noise.ts";
import { search } from "../../activities/knowledge/search/search.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { nearest } from "../../benchmarks/nearest.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { counted } from "../../results/format.ts";
import type { KnowledgeOptions } from "../cli/knowledge-verbs.ts";
import type { ModelOptions } from "../cli/model-options.ts";
import { printRows } from "../cli/rows.ts";
import { distilledUnits } from "../knowledge/distilled.ts";
import { leaveOutSuites } from "../knowledge/suites.ts";
import { statsText, unitDetails } from "../knowledge/text.ts";

/** Opens bases by name, and closes them whatever comes of it. */
async function withBase<T>(
  { state }: Pick<KnowledgeOptions, "state">,
  name: string | undefined,
  use: (base: Base) => Promise<T>,
  create?: string,
): Promise<T> {
  const base = await openBase(name ?? SEED, { stateFolder: state, ...(create && { create }) });
  try {
    return await use(base);
  } finally {
    await base.store.close();
  }
}

export async function statsOf(options: KnowledgeOptions, [name]: string[]): Promise<number> {
  return withBase(options, name, async (base) => {
    const { stats, text } = await statsText(base);
    process.stdout.write(options.json ? `${JSON.stringify(stats, null, 2)}\n` : text);
    return 0;
  });
}

export async function searchBase(options: KnowledgeOptions, [name, ...words]: string[]): Promise<number> {
  const text = words.join(" ") === "-" ? await readAll(process.stdin) : words.join(" ");
  const { profile, limit, minimum, language, python } = options;
  return withBase(options, name, async (base) => {
    const suites = options.leaveOut ?? [];
    const exclude =
      suites.length === 0
        ? undefined
        : new Set((await leaveOutSuites(await base.store.all(), suites)).left.keys());
    const found = await search(
      base,
      { text, ...(language && { language }), ...(python && { python }) },
      { profile, limit, ...(minimum !== undefined && { minimum }), ...(exclude && { exclude }) },
    );
    if (options.json) {
      process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
      return 0;
    }
    const rows = found.map(({ unit, similarity, composite, tier, regex }) => ({
      unit: unit.id,
      composite: composite.toFixed(3),
      similarity: similarity.toFixed(3),
      tier,
      pattern: regex,
      advice: unit.advice_nl[0] ?? null,
    }));
    if (rows.length === 0) process.stderr.write("nothing in the base speaks of this\n");
    else printRows(rows, false);
    return 0;
  });
}

export async function showUnit(options: KnowledgeOptions, [name, id = ""]: string[]): Promise<number> {
  return withBase(options, name, async ({ store }) => {
    const [unit] = await store.get([id]);
    if (unit === undefined) {
      const near = nearest(
        id,
        (await store.all()).map((it) => it.id),
      );
      throw new UsageError(`knowledge show ${id}: ${name} has no such unit; nearest: ${near.join(", ")}`);
    }
    const { details, text } = unitDetails(unit);
    process.stdout.write(options.json ? `${JSON.stringify(details, null, 2)}\n` : text);
    return 0;
  });
}

export async function exportBase(options: KnowledgeOptions, [name]: string[]): Promise<number> {
  return withBase(options, name, async ({ store }) => {
    const units = await store.all();
    const lines = options.published ? formatPublished(units) : formatUnits(units);
    if (options.out === undefined) {
      process.stdout.write(lines);
      return 0;
    }
    await writeFile(options.out, lines).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`--out ${options.out}: can't be written (${error.code}); check the path`);
    });
    return say(options, { units: units.length, file: options.out }, `${of(units)} in ${options.out}`);
  });
}

export async function diffBases(options: KnowledgeOptions, [one, other]: string[]): Promise<number> {
  const before = await unitsOf(options, one ?? "");
  const changes = diffUnits(before, await unitsOf(options, other ?? ""));
  const rows = changes.map(({ id, change, fields }) => ({ unit: id, change, fields: fields.join(", ") }));
  if (options.json) process.stdout.write(`${JSON.stringify(changes, null, 2)}\n`);
  else if (rows.length > 0) printRows(rows, false);
  else process.stderr.write("the bases say the same\n");
  return 0;
}

export async function leaveOutOf(options: KnowledgeOptions, [name, ...suites]: string[]): Promise<number> {
  const units = await unitsOf(options, name ?? "");
  const { left, unproven } = await leaveOutSuites(units, suites);
  const rows = [...left].map(([unit, repository]) => ({ unit, learnt_from: repository }));
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ left: rows, unproven }, null, 2)}\n`);
    return 0;
  }
  if (rows.length > 0) printRows(rows, false);
  const rest = `${counted(unproven.length, "unit doesn't", "units don't")} say where they come from`;
  process.stderr.write(`${rows.length} of ${of(units)} left out; ${rest}\n`);
  return 0;
}

export async function importInto(options: KnowledgeOptions, [name, from = ""]: string[]): Promise<number> {
  const isFile = from.endsWith(".jsonl");
  const { units, unknownAtoms } = isFile
    ? await readUnits(from)
    : { units: await unitsOf(options, from), unknownAtoms: {} };
  return withBase(
    options,
    name,
    async (base) => {
      await putUnits(base, units, { telemetry: "replace" });
      const unknown = Object.values(unknownAtoms).reduce((sum, count) => sum + count, 0);
      const atoms = counted(unknown, "atom", "atoms");
      const kept = unknown === 0 ? "" : `; ${atoms} of unknown names are kept and never run`;
      return say(
        options,
        { base: name, imported: units.length, embedding: base.embedding.name, unknownAtoms },
        `${of(units)} imported into ${name} (${base.embedding.name})${kept}`,
      );
    },
    options.embedding,
  );
}

export async function mergeInto(options: KnowledgeOptions, [name, from]: string[]): Promise<number> {
  const units = await unitsOf(options, from ?? "");
  return withBase(options, name, async (base) => {
    const done = await absorb(base, units, judging(options));
    const merged = done.filter(({ outcome }) => outcome === "merged").length;
    return say(
      options,
      done,
      `${of(units)}: ${merged} merged, ${units.length - merged} put in as they are, into ${name}`,
    );
  });
}

export async function distillInto(
  options: KnowledgeOptions & ModelOptions,
  [name = "", ...sweeps]: string[],
): Promise<number> {
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort(new Error("interrupted; the same line again goes on")));
  const { lessons, units, judge } = await distilledUnits(options, name, sweeps, interrupt.signal);
  return withBase(
    options,
    name,
    async (base) => {
      const done = await absorb(base, units, { ...judging(options), ...(judge && { judge }) });
      const runs = counted(lessons, "run that ended well", "runs that ended well");
      const added = done.filter(({ outcome }) => outcome === "added").length;
      return say(options, done, `${runs}: ${of(units)}, ${added} of them new in ${name}`);
    },
    options.embedding,
  );
}

export async function dedupBase(options: KnowledgeOptions, [name]: string[]): Promise<number> {
  return withBase(options, name, async (base) => {
    const before = await base.store.count();
    const done = await dedup(base, judging(options));
    const rows = done.map(({ id, into, similarity, reason }) => ({ unit: id, into, similarity, reason }));
    if (!options.json && rows.length > 0) printRows(rows, false);
    return say(options, done, `${before} units before, ${before - done.length} now`);
  });
}

export async function addNoise(options: KnowledgeOptions, [from, name]: string[]): Promise<number> {
  const units = await unitsOf(options, from ?? "");
  const { total, seed } = options;
  const count = options.count ?? (total === undefined ? undefined : total - units.length);
  if (count === undefined || (options.count !== undefined && total !== undefined)) {
    throw new UsageError("knowledge noise: name either --total or --count");
  }
  if (count < 1) {
    throw new UsageError(`--total ${total}: ${from} has ${of(units)} already; name a larger number`);
  }
  return withBase(
    options,
    name,
    async (base) => {
      if ((await base.store.count()) > 0)
        throw new UsageError(`knowledge noise ${name}: is there already; name a new base`);
      const noise = makeNoise(units, count, seed);
      await putUnits(base, [...units, ...noise], { telemetry: "replace" });
      const json = { base: name, units: units.length, noise: noise.length, seed };
      return say(options, json, `${name}: ${of(units)} of ${from} and ${noise.length} that mislead`);
    },
    options.embedding,
  );
}

export async function freeze(options: KnowledgeOptions, [name]: string[]): Promise<number> {
  return withBase(options, name, async (base) => {
    const digest = await freezeBase(base);
    return say(options, { base: name, digest }, `${name} is frozen: ${digest}`);
  });
}

function unitsOf(options: KnowledgeOptions, name: string): Promise<Unit[]> {
  return withBase(options, name, ({ store }) => store.all());
}

function judging({ threshold }: KnowledgeOptions) {
  return { judge: judgeByRules, ...(threshold !== undefined && { threshold }) };
}

function of(units: readonly Unit[]): string {
  return counted(units.length, "unit", "units");
}

function say(options: KnowledgeOptions, json: object, text: string): number {
  process.stdout.write(options.json ? `${JSON.stringify(json)}\n` : `${text}\n`);
  return 0;
}
