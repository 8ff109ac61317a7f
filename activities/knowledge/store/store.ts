import type { Unit } from "../unit.ts";

/** A unit with the vector of its text (embedding/unit-text.ts). */
export interface Entry {
  unit: Unit;
  vector: Float32Array;
}

/** What happened to a unit, once; `id` is derived from the run and step, so that a retry counts nothing twice. */
export interface TelemetryEvent {
  id: string;
  unit: string;
  kind: "hit" | "success" | "failure";
}

export interface Identity {
  /** Name of the embedding that all vectors come from. */
  embedding: string;
  dimension: number;
  /** Digest of a base that may not change any more (digest.ts); null while it may. */
  frozen: string | null;
}

export interface NearestOptions {
  limit: number;
  /** Least cosine. */
  minimum: number;
  exclude?: ReadonlySet<string>;
  /** Only units of this language. */
  language?: string;
}

export interface Neighbour {
  id: string;
  /** Cosine. */
  similarity: number;
}

/** All functions that write throw UsageError on a frozen base. */
export interface Store {
  identity(): Promise<Identity>;
  /** Differs after every change of units; telemetry does not change it. */
  revision(): Promise<string>;
  count(): Promise<number>;
  /** Inserts, or replaces what a unit says. Counters of a unit that is there are kept unless asked otherwise. */
  put(entries: readonly Entry[], options?: { telemetry: "keep" | "replace" }): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** Those that are there, in the order asked for. */
  get(ids: readonly string[]): Promise<Unit[]>;
  /** All units, by id. */
  all(): Promise<Unit[]>;
  /** The nearest units, nearest first; equally near ones by id. */
  nearest(vector: Float32Array, options: NearestOptions): Promise<Neighbour[]>;
  /** Counts each event once, whoever records it at the same time or again. Events of unknown units count nothing. */
  record(events: readonly TelemetryEvent[]): Promise<void>;
  freeze(digest: string): Promise<void>;
  close(): Promise<void>;
}
