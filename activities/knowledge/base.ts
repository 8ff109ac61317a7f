import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { nearest } from "../../benchmarks/nearest.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { baseDigest } from "./digest.ts";
import { type Embedding, embeddingOf } from "./embedding/embedding.ts";
import { unitText } from "./embedding/unit-text.ts";
import { readUnits } from "./jsonl.ts";
import { makeSignalIndex, type SignalIndex } from "./search/signals.ts";
import { openLibsql } from "./store/libsql.ts";
import { openQdrant } from "./store/qdrant.ts";
import type { Store } from "./store/store.ts";
import type { Unit } from "./unit.ts";

/** A knowledge base: its store, the embedding that its vectors come from, and its compiled signals. */
export interface Base {
  name: string;
  store: Store;
  embedding: Embedding;
  /** Compiled anew after units have changed. */
  signals(): Promise<SignalIndex>;
}

/** The base that comes with the project; it is read into memory and never written. */
export const SEED = "seed";
const SEED_FILE = fileURLToPath(new URL("../../benchmarks/knowledge/seed.jsonl", import.meta.url));

export interface OpenOptions {
  /** Named bases are `knowledge/NAME.db` of this folder. */
  stateFolder: string;
  /** Makes the base if it is not there, of this embedding; without it, a base that is not there is a UsageError. */
  create?: string;
  environment?: NodeJS.ProcessEnv;
}

/**
 * Opens a base by name (`seed`, or one of the state folder), by file (`.jsonl`, read into memory and frozen, or `.db`),
 * or by the address of a Qdrant collection (`http://host:6333/name`; the key is QDRANT_API_KEY). Throws UsageError.
 */
export async function openBase(name: string, options: OpenOptions): Promise<Base> {
  const environment = options.environment ?? process.env;
  const file = name === SEED ? SEED_FILE : name;
  if (file.endsWith(".jsonl")) return openFile(name, file, options.create ?? "lexical", environment);
  const created = options.create === undefined ? null : embeddingOf(options.create, environment);
  const create = created && { embedding: created.name, dimension: created.dimension };
  const store = /^https?:\/\//.test(name)
    ? await openQdrant(name, environment.QDRANT_API_KEY ?? null, create)
    : await openLibsql(await databaseOf(name, options), create);
  const { embedding } = await store.identity();
  return makeBase(name, store, created ?? embeddingOf(embedding, environment));
}

async function openFile(name: string, file: string, embedding: string, environment: NodeJS.ProcessEnv) {
  const { units } = await readUnits(file);
  const base = await memoryBase(name, units, embeddingOf(embedding, environment));
  await freezeBase(base);
  return base;
}

/** A base in memory. */
export async function memoryBase(name: string, units: readonly Unit[], embedding: Embedding): Promise<Base> {
  const store = await openLibsql(":memory:", { embedding: embedding.name, dimension: embedding.dimension });
  const base = makeBase(name, store, embedding);
  await putUnits(base, units, { telemetry: "replace" });
  return base;
}

function makeBase(name: string, store: Store, embedding: Embedding): Base {
  let compiled: { revision: string; index: SignalIndex } | null = null;
  return {
    name,
    store,
    embedding,
    signals: async () => {
      const revision = await store.revision();
      if (compiled?.revision !== revision) {
        compiled = { revision, index: makeSignalIndex(await store.all()) };
      }
      return compiled.index;
    },
  };
}

const EMBED_AT_ONCE = 1_000;

/** Embeds units and puts them into the base. */
export async function putUnits(
  { store, embedding }: Base,
  units: readonly Unit[],
  options: { telemetry: "keep" | "replace" } = { telemetry: "keep" },
): Promise<void> {
  for (let start = 0; start < units.length; start += EMBED_AT_ONCE) {
    const part = units.slice(start, start + EMBED_AT_ONCE);
    const vectors = await embedding.embed(part.map(unitText));
    const entries = part.map((unit, index) => ({ unit, vector: vectors[index] ?? new Float32Array() }));
    await store.put(entries, options);
  }
}

/** From now on nothing of the base changes; gives its digest, also when it was frozen before. */
export async function freezeBase({ store, embedding }: Base): Promise<string> {
  const { frozen } = await store.identity();
  if (frozen !== null) return frozen;
  const digest = baseDigest(await store.all(), embedding.name);
  await store.freeze(digest);
  return digest;
}

async function databaseOf(name: string, { stateFolder, create }: OpenOptions): Promise<string> {
  const folder = join(resolve(stateFolder), "knowledge");
  const isFile = name.endsWith(".db");
  if (!isFile && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/.test(name)) {
    throw new UsageError(`knowledge base ${name}: must be letters, digits, dots and dashes, or a file`);
  }
  const file = isFile ? resolve(name) : join(folder, `${name}.db`);
  const names: string[] = await readdir(isFile ? resolve(file, "..") : folder).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  if (create !== undefined || names.includes(basename(file))) return file;
  const bases = [SEED, ...names.filter((it) => it.endsWith(".db")).map((it) => it.slice(0, -3))];
  const near = nearest(name, bases).join(", ");
  throw new UsageError(
    `knowledge base ${name}: not there; nearest: ${near}; make one with: bench knowledge import`,
  );
}
