import { readFile } from "node:fs/promises";
import { z } from "zod";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { isKnownAtom } from "./atoms/parse.ts";
import { type Unit, unitSchema } from "./unit.ts";

/** Units of a file, and what was found in it that can't be used. */
export interface Imported {
  units: Unit[];
  /** Atoms that nothing can render, by name; the units keep them. */
  unknownAtoms: Record<string, number>;
}

/** Reads a JSONL file of units, the published five-field ones or ours. Throws UsageError naming file, line and key. */
export async function readUnits(file: string): Promise<Imported> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file}: can't be read (${error.code}); check the path`, { cause: error });
  });
  return parseUnits(text, file);
}

export function parseUnits(text: string, file: string): Imported {
  const units = new Map<string, Unit>();
  const unknownAtoms: Record<string, number> = {};
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const unit = parseLine(line, `${file}:${index + 1}`);
    if (units.has(unit.id)) {
      throw new UsageError(`${file}:${index + 1}: id: ${unit.id} is there already; remove or rename one`);
    }
    units.set(unit.id, unit);
    for (const { name } of unit.atoms) {
      if (!isKnownAtom(name)) unknownAtoms[name] = (unknownAtoms[name] ?? 0) + 1;
    }
  }
  return { units: [...units.values()], unknownAtoms };
}

function parseLine(line: string, where: string): Unit {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch (error) {
    throw new UsageError(`${where}: not JSON (${(error as Error).message}); correct or remove the line`, {
      cause: error,
    });
  }
  const parsed = unitSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = z.core.toDotPath(issue?.path ?? []) || "top level";
  throw new UsageError(`${where}: ${key}: ${issue?.message}; correct or remove the line`, {
    cause: parsed.error,
  });
}

/** One line a unit, sorted by id, so that equal bases give equal files. */
export function formatUnits(units: readonly Unit[]): string {
  const sorted = units.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return sorted.map((unit) => `${JSON.stringify(unit)}\n`).join("");
}

/** The five published fields alone. */
export function formatPublished(units: readonly Unit[]): string {
  const sorted = units.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return sorted
    .map(({ id, signals, advice_nl, atoms, telemetry }) => ({ id, signals, advice_nl, atoms, telemetry }))
    .map((unit) => `${JSON.stringify(unit)}\n`)
    .join("");
}
