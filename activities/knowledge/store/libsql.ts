import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type Client, createClient, type InStatement, type Row } from "@libsql/client";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import type { Unit } from "../unit.ts";
import { bodyOf, refuseFrozen, telemetryOf, unitOf } from "./row.ts";
import type { Identity, Store } from "./store.ts";
import { makeVectorIndex, type VectorIndex } from "./vector-index.ts";

/** How long a writer waits for writers of other processes. */
const BUSY_MS = 120_000;
/** Rows of one transaction, so that other writers get their turn. */
const BATCH = 500;

const TABLES = (dimension: number) => [
  "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS units (id TEXT PRIMARY KEY, language TEXT NOT NULL, body TEXT NOT NULL,
    hits INTEGER NOT NULL, successes INTEGER NOT NULL, failures INTEGER NOT NULL,
    revision INTEGER NOT NULL, vector F32_BLOB(${dimension}) NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS units_revision ON units (revision)",
  `CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, unit TEXT NOT NULL, kind TEXT NOT NULL) WITHOUT ROWID`,
  // An event that is there already inserts nothing, and so counts nothing: both in one statement, whoever writes.
  `CREATE TRIGGER IF NOT EXISTS counted AFTER INSERT ON events BEGIN
    UPDATE units SET hits = hits + (NEW.kind = 'hit'), successes = successes + (NEW.kind = 'success'),
      failures = failures + (NEW.kind = 'failure') WHERE id = NEW.unit; END`,
];

const NEXT_REVISION = "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'revision'";
const NOT_FROZEN = "NOT EXISTS (SELECT 1 FROM meta WHERE key = 'frozen')";

/**
 * Opens the base in `file` (or ":memory:"), making it when it is not there and `create` says of which embedding.
 * Throws UsageError.
 */
export async function openLibsql(
  file: string,
  create: { embedding: string; dimension: number } | null,
): Promise<Store> {
  if (file !== ":memory:") await mkdir(dirname(file), { recursive: true });
  // One connection: statements of this process queue up for it and never wait for each other's locks.
  const client = createClient({
    url: file === ":memory:" ? file : `file:${file}`,
    concurrency: 1,
    timeout: BUSY_MS,
  });
  await client.execute("PRAGMA journal_mode = WAL");
  await client.execute("PRAGMA synchronous = NORMAL");
  if (create !== null) await makeTables(client, create);
  const identity = await readIdentity(client, file);
  if (create !== null && create.embedding !== identity.embedding) {
    client.close();
    const remedy = "name another base, or that embedding";
    throw new UsageError(
      `${file}: holds vectors of ${identity.embedding}, not of ${create.embedding}; ${remedy}`,
    );
  }
  return makeStore(client, file, identity.dimension);
}

async function makeTables(client: Client, create: { embedding: string; dimension: number }): Promise<void> {
  const meta = Object.entries({ ...create, revision: 0 }).map(([key, value]) => ({
    sql: "INSERT OR IGNORE INTO meta VALUES (?, ?)",
    args: [key, String(value)],
  }));
  await client.batch([...TABLES(create.dimension), ...meta], "write");
}

async function readIdentity(client: Client, file: string): Promise<Identity> {
  const { rows } = await client.execute("SELECT key, value FROM meta").catch((error: Error) => {
    throw new UsageError(`${file}: not a knowledge base (${error.message}); make one with: knowledge import`);
  });
  const meta = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  return {
    embedding: meta.get("embedding") ?? "",
    dimension: Number(meta.get("dimension")),
    frozen: meta.get("frozen") ?? null,
  };
}

function makeStore(client: Client, file: string, dimension: number): Store {
  const index = makeVectorIndex(dimension);
  const seen = { revision: -1 };
  const writable = async () => refuseFrozen(await readIdentity(client, file), file);
  return {
    identity: () => readIdentity(client, file),
    revision: async () => String(await revisionOf(client)),
    count: async () => {
      const { rows } = await client.execute("SELECT count(*) AS n FROM units");
      return Number(rows[0]?.n);
    },
    put: async (entries, { telemetry } = { telemetry: "keep" }) => {
      await writable();
      for (let start = 0; start < entries.length; start += BATCH) {
        const part = entries.slice(start, start + BATCH);
        const inserts = part.map(({ unit, vector }) => insertion(unit, vector, telemetry === "replace"));
        await client.batch([NEXT_REVISION, ...inserts], "write");
      }
    },
    remove: async (ids) => {
      await writable();
      const deletions = ids.map((id) => ({ sql: "DELETE FROM units WHERE id = ?", args: [id] }));
      await client.batch([NEXT_REVISION, ...deletions], "write");
    },
    get: async (ids) => {
      const sql = `SELECT ${COLUMNS} FROM units WHERE id IN (SELECT value FROM json_each(?))`;
      const { rows } = await client.execute({ sql, args: [JSON.stringify(ids)] });
      const units = new Map(rows.map((row) => [String(row.id), unitOfRow(row)]));
      return ids.flatMap((id) => units.get(id) ?? []);
    },
    all: async () => {
      const { rows } = await client.execute(`SELECT ${COLUMNS} FROM units ORDER BY id`);
      return rows.map(unitOfRow);
    },
    nearest: async (vector, options) => {
      await refresh(client, index, seen);
      return index.nearest(vector, options);
    },
    record: async (events) => {
      if (events.length === 0) return;
      await writable();
      const sql = `INSERT OR IGNORE INTO events SELECT ?1, ?2, ?3
        WHERE EXISTS (SELECT 1 FROM units WHERE id = ?2) AND ${NOT_FROZEN}`;
      const inserts = events.map(({ id, unit, kind }) => ({ sql, args: [id, unit, kind] }));
      await client.batch(inserts, "write");
    },
    freeze: async (digest) => {
      await writable();
      await client.execute({ sql: "INSERT INTO meta VALUES ('frozen', ?)", args: [digest] });
    },
    close: async () => client.close(),
  };
}

const COLUMNS = "id, body, hits, successes, failures";

function insertion(unit: Unit, vector: Float32Array, replace: boolean): InStatement {
  const { hits, successes, failures } = unit.telemetry;
  const counters = replace
    ? ", hits = excluded.hits, successes = excluded.successes, failures = excluded.failures"
    : "";
  return {
    sql: `INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'revision'), ?)
      ON CONFLICT (id) DO UPDATE SET language = excluded.language, body = excluded.body, vector = excluded.vector,
        revision = excluded.revision${counters}`,
    args: [
      unit.id,
      unit.signals.applicability.lang,
      JSON.stringify(bodyOf(unit)),
      hits,
      successes,
      failures,
      new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
    ],
  };
}

function unitOfRow(row: Row): Unit {
  return unitOf(String(row.id), JSON.parse(String(row.body)), telemetryOf(row));
}

async function revisionOf(client: Client): Promise<number> {
  const { rows } = await client.execute("SELECT value FROM meta WHERE key = 'revision'");
  return Number(rows[0]?.value);
}

/** Brings what this or another process has changed into the index. */
async function refresh(client: Client, index: VectorIndex, seen: { revision: number }): Promise<void> {
  const revision = await revisionOf(client);
  if (revision === seen.revision) return;
  // In parts, so that a large base does not lie in memory twice.
  let after = "";
  for (;;) {
    const { rows } = await client.execute({
      sql: `SELECT id, language, vector FROM units WHERE revision > ? AND id > ? ORDER BY id LIMIT ${BATCH}`,
      args: [seen.revision, after],
    });
    for (const row of rows) {
      index.set(String(row.id), String(row.language), new Float32Array(row.vector as ArrayBuffer));
    }
    if (rows.length < BATCH) break;
    after = String(rows.at(-1)?.id);
  }
  const { rows } = await client.execute("SELECT id FROM units");
  index.keep(new Set(rows.map((row) => String(row.id))));
  seen.revision = revision;
}
