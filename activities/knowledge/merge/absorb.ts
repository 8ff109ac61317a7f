import { type Base, putUnits } from "../base.ts";
import { unitText } from "../embedding/unit-text.ts";
import type { Unit } from "../unit.ts";
import { combine } from "./combine.ts";
import type { Judge } from "./judge.ts";

/** What became of a unit: put in as it is, put in the place of the one of its id, or merged into another. */
export interface Absorbed {
  id: string;
  outcome: "added" | "replaced" | "merged";
  into: string | null;
  similarity: number | null;
  reason: string | null;
}

export interface AbsorbOptions {
  judge: Judge;
  /** Cosine from which units may be the same; else the embedding's own. */
  threshold?: number;
  signal?: AbortSignal;
}

const LOOKED_AT = 3;

/** Puts units into the base, each merged with the nearest one of its language that says the same. */
export async function absorb(
  base: Base,
  units: readonly Unit[],
  options: AbsorbOptions,
): Promise<Absorbed[]> {
  const done: Absorbed[] = [];
  for (const unit of units) {
    options.signal?.throwIfAborted();
    const [before] = await base.store.get([unit.id]);
    if (before !== undefined) {
      await putUnits(base, [unit], { telemetry: "replace" });
      done.push({ id: unit.id, outcome: "replaced", into: null, similarity: null, reason: "the same id" });
      continue;
    }
    const match = await sameAs(base, unit, options);
    const written = match === null ? unit : combine(match.unit, unit);
    await putUnits(base, [written], { telemetry: "replace" });
    done.push(outcomeOf(unit, match));
  }
  return done;
}

/** Merges units of the base with each other; of two, the one whose id comes first stays. */
export async function dedup(base: Base, options: AbsorbOptions): Promise<Absorbed[]> {
  const done: Absorbed[] = [];
  for (const { id } of await base.store.all()) {
    options.signal?.throwIfAborted();
    const [unit] = await base.store.get([id]);
    const match = unit === undefined ? null : await sameAs(base, unit, options, id);
    if (unit === undefined || match === null) continue;
    const [first, second] = match.unit.id < id ? [match.unit, unit] : [unit, match.unit];
    // The merged one is there before the other goes: a crash in between leaves a duplicate, never a loss.
    await putUnits(base, [combine(first, second)], { telemetry: "replace" });
    await base.store.remove([second.id]);
    done.push({ ...outcomeOf(second, match), into: first.id });
  }
  return done;
}

interface Match {
  unit: Unit;
  similarity: number;
  reason: string;
}

async function sameAs(
  { store, embedding }: Base,
  unit: Unit,
  { judge, threshold, signal }: AbsorbOptions,
  self?: string,
): Promise<Match | null> {
  const [vector] = await embedding.embed([unitText(unit)], signal);
  if (vector === undefined) throw new Error("the embedding gave no vector");
  const near = await store.nearest(vector, {
    limit: LOOKED_AT,
    minimum: threshold ?? embedding.duplicate,
    language: unit.signals.applicability.lang,
    ...(self !== undefined && { exclude: new Set([self]) }),
  });
  const units = await store.get(near.map(({ id }) => id));
  for (const candidate of units) {
    const { same, reason } = await judge(candidate, unit, signal);
    const similarity = near.find(({ id }) => id === candidate.id)?.similarity ?? 0;
    if (same) return { unit: candidate, similarity, reason };
  }
  return null;
}

function outcomeOf({ id }: Unit, match: Match | null): Absorbed {
  if (match === null) return { id, outcome: "added", into: null, similarity: null, reason: null };
  const { unit, similarity, reason } = match;
  return { id, outcome: "merged", into: unit.id, similarity, reason };
}
