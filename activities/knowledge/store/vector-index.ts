import type { NearestOptions, Neighbour } from "./store.ts";

/** Vectors in memory, searched exactly. */
export interface VectorIndex {
  set(id: string, language: string, vector: Float32Array): void;
  /** Forgets all others. */
  keep(ids: ReadonlySet<string>): void;
  nearest(vector: Float32Array, options: NearestOptions): Neighbour[];
}

/** One dimension: which rows are not zero there, and their values. */
interface Column {
  rows: Uint32Array;
  values: Float32Array;
  length: number;
}

/**
 * By dimension instead of by row: hashed features are mostly zeros, and a query then touches only what it shares with
 * somebody. Replaced and deleted rows stay behind as unnamed ones.
 */
export function makeVectorIndex(dimension: number): VectorIndex {
  const columns = Array.from({ length: dimension }, emptyColumn);
  const ids: (string | null)[] = [];
  const languages: string[] = [];
  const rowOf = new Map<string, number>();

  const remove = (id: string) => {
    const row = rowOf.get(id);
    if (row !== undefined) ids[row] = null;
    rowOf.delete(id);
  };

  return {
    keep: (kept) => {
      for (const id of rowOf.keys()) if (!kept.has(id)) remove(id);
    },
    set: (id, language, vector) => {
      remove(id);
      const row = ids.push(id) - 1;
      languages.push(language);
      rowOf.set(id, row);
      for (let index = 0; index < dimension; index++) {
        const value = vector[index] ?? 0;
        const column = columns[index];
        if (value !== 0 && column !== undefined) append(column, row, value);
      }
    },
    nearest: (vector, options) => {
      const scores = scoresOf(columns, vector, ids.length);
      return best(scores, ids, languages, options);
    },
  };
}

function emptyColumn(): Column {
  return { rows: new Uint32Array(8), values: new Float32Array(8), length: 0 };
}

function append(column: Column, row: number, value: number): void {
  if (column.length === column.rows.length) {
    const rows = new Uint32Array(column.length * 2);
    const values = new Float32Array(column.length * 2);
    rows.set(column.rows);
    values.set(column.values);
    column.rows = rows;
    column.values = values;
  }
  column.rows[column.length] = row;
  column.values[column.length] = value;
  column.length++;
}

function scoresOf(columns: readonly Column[], vector: Float32Array, count: number): Float64Array {
  const scores = new Float64Array(count);
  for (const [index, { rows, values, length }] of columns.entries()) {
    const weight = vector[index] ?? 0;
    if (weight === 0) continue;
    for (let at = 0; at < length; at++) {
      const row = rows[at] as number;
      scores[row] = (scores[row] as number) + weight * (values[at] as number);
    }
  }
  return scores;
}

function best(
  scores: Float64Array,
  ids: readonly (string | null)[],
  languages: readonly string[],
  { limit, minimum, exclude, language }: NearestOptions,
): Neighbour[] {
  const found: Neighbour[] = [];
  let least = minimum;
  for (let row = 0; row < scores.length; row++) {
    const similarity = scores[row] as number;
    if (similarity < least) continue;
    const id = ids[row] ?? null;
    if (id === null || exclude?.has(id)) continue;
    if (language !== undefined && languages[row] !== language) continue;
    insert(found, { id, similarity }, limit);
    if (found.length === limit) least = Math.max(minimum, found.at(-1)?.similarity ?? minimum);
  }
  return found;
}

function insert(found: Neighbour[], candidate: Neighbour, limit: number): void {
  let at = found.length;
  while (at > 0 && nearer(candidate, found[at - 1] as Neighbour)) at--;
  found.splice(at, 0, candidate);
  if (found.length > limit) found.pop();
}

function nearer(a: Neighbour, b: Neighbour): boolean {
  return a.similarity > b.similarity || (a.similarity === b.similarity && a.id < b.id);
}
