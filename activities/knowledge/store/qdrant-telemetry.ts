import type { QdrantClient } from "@qdrant/js-client-rest";
import type { Telemetry } from "../unit.ts";
import { pointId } from "./qdrant-ids.ts";
import type { TelemetryEvent } from "./store.ts";

const KINDS = ["hit", "success", "failure"] as const;
const FIELDS = { hit: "hits", success: "successes", failure: "failures" } as const;

export const EMPTY: Telemetry = { hits: 0, successes: 0, failures: 0 };

/** The point of an event; the same for the same event, so that recording it again changes nothing. */
export function eventPoint({ id, unit, kind }: TelemetryEvent) {
  return { id: pointId(`event ${id}`), vector: [1], payload: { counter: counterOf(unit, kind), event: id } };
}

/** Counted events of units, those without any left out. */
export async function countsOf(
  client: QdrantClient,
  events: string,
  ids: readonly string[],
): Promise<Map<string, Telemetry>> {
  const counters = new Map(ids.flatMap((id) => KINDS.map((kind) => [counterOf(id, kind), { id, kind }])));
  const counts = new Map<string, Telemetry>();
  if (counters.size === 0) return counts;
  const { hits } = await client.facet(events, {
    key: "counter",
    limit: counters.size,
    exact: true,
    filter: { must: [{ key: "counter", match: { any: [...counters.keys()] } }] },
  });
  for (const { value, count } of hits) {
    const counter = counters.get(String(value));
    if (counter === undefined) continue;
    const field = FIELDS[counter.kind];
    counts.set(counter.id, { ...(counts.get(counter.id) ?? EMPTY), [field]: count });
  }
  return counts;
}

function counterOf(unit: string, kind: TelemetryEvent["kind"]): string {
  return `${kind} ${unit}`;
}

export function plus(a: Telemetry, b: Telemetry): Telemetry {
  return {
    hits: a.hits + b.hits,
    successes: a.successes + b.successes,
    failures: a.failures + b.failures,
  };
}

export function minus(a: Telemetry, b: Telemetry): Telemetry {
  return {
    hits: a.hits - b.hits,
    successes: a.successes - b.successes,
    failures: a.failures - b.failures,
  };
}
