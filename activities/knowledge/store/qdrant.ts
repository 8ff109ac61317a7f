import { QdrantClient } from "@qdrant/js-client-rest";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { CausedError } from "../../errors.ts";
import type { Unit } from "../unit.ts";
import { addressOf, pointId } from "./qdrant-ids.ts";
import { countsOf, EMPTY, eventPoint, minus, plus } from "./qdrant-telemetry.ts";
import { type Body, bodyOf, refuseFrozen, unitOf } from "./row.ts";
import type { Entry, Identity, NearestOptions, Store } from "./store.ts";

/** What one call sends or fetches. */
const BATCH = 256;
const TIMEOUT_MS = 60_000;

interface Meta extends Identity {
  revision: string;
}

/**
 * The base in a collection of a Qdrant server, `http://host:6333/name`. Qdrant has no counters that many can add to: each
 * event is a point of its own in `name-events`, whose id makes a retry write the same point, and counters are counts.
 */
export async function openQdrant(
  address: string,
  key: string | null,
  create: { embedding: string; dimension: number } | null,
): Promise<Store> {
  const { url, collection } = addressOf(address);
  const client = new QdrantClient({
    url,
    timeout: TIMEOUT_MS,
    checkCompatibility: false,
    ...(key && { apiKey: key }),
  });
  const names = { units: collection, events: `${collection}-events`, address };
  if (create !== null) await said(address, () => makeCollections(client, names, create));
  const meta = await said(address, () => readMeta(client, names));
  if (meta === null) {
    throw new UsageError(`${address}: not a knowledge base; make one with: bench knowledge import`);
  }
  if (create !== null && create.embedding !== meta.embedding) {
    const remedy = "name another base, or that embedding";
    throw new UsageError(
      `${address}: holds vectors of ${meta.embedding}, not of ${create.embedding}; ${remedy}`,
    );
  }
  return makeStore(client, names);
}

interface Names {
  units: string;
  events: string;
  address: string;
}

/** Failures of the server are nobody's but the harness's. */
async function said<T>(address: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message, cause, data } = error as Error & { data?: { status?: { error?: string } } };
    const more = data?.status?.error ?? (cause instanceof Error ? cause.message : null);
    const why = more === null ? message : `${message}: ${more}`;
    throw new CausedError("harness_fault", `knowledge base ${address}: ${why}`, { cause: error });
  }
}

async function makeCollections(
  client: QdrantClient,
  { units, events }: Names,
  { embedding, dimension }: { embedding: string; dimension: number },
): Promise<void> {
  const { exists } = await client.collectionExists(events);
  if (exists) return;
  await client.createCollection(units, { vectors: { size: dimension, distance: "Cosine" } });
  await client.createPayloadIndex(units, { field_name: "id", field_schema: "keyword", wait: true });
  await client.createPayloadIndex(units, { field_name: "language", field_schema: "keyword", wait: true });
  await client.createCollection(events, { vectors: { size: 1, distance: "Dot" } });
  await client.createPayloadIndex(events, { field_name: "counter", field_schema: "keyword", wait: true });
  await writeMeta(client, events, { embedding, dimension, frozen: null, revision: "0" });
}

async function readMeta(client: QdrantClient, { events }: Names): Promise<Meta | null> {
  const { exists } = await client.collectionExists(events);
  if (!exists) return null;
  const [point] = await client.retrieve(events, { ids: [pointId("meta")], with_payload: true });
  return (point?.payload?.meta as Meta | undefined) ?? null;
}

async function writeMeta(client: QdrantClient, events: string, meta: Meta): Promise<void> {
  await client.upsert(events, {
    wait: true,
    points: [{ id: pointId("meta"), vector: [1], payload: { meta: { ...meta } } }],
  });
}

function makeStore(client: QdrantClient, names: Names): Store {
  const ask = <T>(call: () => Promise<T>) => said(names.address, call);
  const meta = async () => {
    const found = await readMeta(client, names);
    if (found === null) throw new UsageError(`${names.address}: is gone`);
    return found;
  };
  const writable = async () => {
    const found = await meta();
    refuseFrozen(found, names.address);
    return found;
  };
  const changed = async (before: Meta) => {
    const revision = String(Number(before.revision) + 1);
    await writeMeta(client, names.events, { ...before, revision });
  };
  return {
    identity: () =>
      ask(async () => {
        const { embedding, dimension, frozen } = await meta();
        return { embedding, dimension, frozen };
      }),
    revision: () => ask(async () => (await meta()).revision),
    count: () => ask(async () => (await client.count(names.units, { exact: true })).count),
    put: (entries, { telemetry } = { telemetry: "keep" }) =>
      ask(async () => {
        const before = await writable();
        for (let start = 0; start < entries.length; start += BATCH) {
          await putBatch(client, names, entries.slice(start, start + BATCH), telemetry);
        }
        await changed(before);
      }),
    remove: (ids) =>
      ask(async () => {
        const before = await writable();
        await client.delete(names.units, { wait: true, points: ids.map(pointId) });
        await changed(before);
      }),
    get: (ids) => ask(() => getUnits(client, names, ids)),
    all: () => ask(() => allUnits(client, names)),
    nearest: (vector, options) => ask(() => nearestOf(client, names, vector, options)),
    record: (events) =>
      ask(async () => {
        await writable();
        for (let start = 0; start < events.length; start += BATCH) {
          const points = events.slice(start, start + BATCH).map(eventPoint);
          await client.upsert(names.events, { wait: true, points });
        }
      }),
    freeze: (digest) =>
      ask(async () => writeMeta(client, names.events, { ...(await writable()), frozen: digest })),
    close: async () => undefined,
  };
}

interface Payload {
  id: string;
  language: string;
  body: Body;
  /** What is added to the counted events. */
  offset: Unit["telemetry"];
}

/** Events that arrive in between are counted on top: an offset never overwrites what others count. */
async function putBatch(
  client: QdrantClient,
  names: Names,
  entries: readonly Entry[],
  telemetry: "keep" | "replace",
): Promise<void> {
  const ids = entries.map(({ unit }) => unit.id);
  const [counted, known] = [await countsOf(client, names.events, ids), await payloadsOf(client, names, ids)];
  const points = entries.map(({ unit, vector }) => {
    const before = telemetry === "keep" ? known.get(unit.id)?.offset : undefined;
    const payload: Payload = {
      id: unit.id,
      language: unit.signals.applicability.lang,
      body: bodyOf(unit),
      offset: before ?? minus(unit.telemetry, counted.get(unit.id) ?? EMPTY),
    };
    return { id: pointId(unit.id), vector: [...vector], payload: { ...payload } };
  });
  await client.upsert(names.units, { wait: true, points });
}

async function payloadsOf(client: QdrantClient, { units }: Names, ids: readonly string[]) {
  const points = await client.retrieve(units, { ids: ids.map(pointId), with_payload: true });
  const payloads = points.map(({ payload }) => payload as unknown as Payload);
  return new Map(payloads.map((payload) => [payload.id, payload]));
}

async function getUnits(client: QdrantClient, names: Names, ids: readonly string[]): Promise<Unit[]> {
  if (ids.length === 0) return [];
  const [payloads, counted] = [
    await payloadsOf(client, names, ids),
    await countsOf(client, names.events, ids),
  ];
  return ids.flatMap((id) => {
    const payload = payloads.get(id);
    return payload ? unitOf(id, payload.body, plus(payload.offset, counted.get(id) ?? EMPTY)) : [];
  });
}

async function allUnits(client: QdrantClient, names: Names): Promise<Unit[]> {
  const ids: string[] = [];
  let offset: string | number | undefined;
  do {
    const page = await client.scroll(names.units, {
      limit: BATCH,
      with_payload: ["id"],
      ...(offset !== undefined && { offset }),
    });
    ids.push(...page.points.map(({ payload }) => String(payload?.id)));
    offset = page.next_page_offset as string | undefined;
  } while (offset !== undefined && offset !== null);
  ids.sort();
  const units: Unit[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    units.push(...(await getUnits(client, names, ids.slice(start, start + BATCH))));
  }
  return units;
}

async function nearestOf(
  client: QdrantClient,
  { units }: Names,
  vector: Float32Array,
  { limit, minimum, exclude, language }: NearestOptions,
) {
  const { points } = await client.query(units, {
    query: [...vector],
    limit,
    score_threshold: minimum,
    with_payload: ["id"],
    params: { exact: true },
    filter: {
      ...(language !== undefined && { must: [{ key: "language", match: { value: language } }] }),
      ...(exclude?.size && { must_not: [{ key: "id", match: { any: [...exclude] } }] }),
    },
  });
  return points
    .map(({ payload, score }) => ({ id: String(payload?.id), similarity: score }))
    .sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1));
}
