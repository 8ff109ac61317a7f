import { UsageError } from "../../../benchmarks/usage-error.ts";
import type { Telemetry, Unit } from "../unit.ts";
import type { Identity } from "./store.ts";

/** What a store keeps of a unit as one document; the counters are kept apart, since they change on their own. */
export type Body = Omit<Unit, "id" | "telemetry">;

export function bodyOf({ signals, advice_nl, atoms, provenance }: Unit): Body {
  return { signals, advice_nl, atoms, provenance };
}

/** In the order of keys that files have. */
export function unitOf(id: string, body: Body, telemetry: Telemetry): Unit {
  const { signals, advice_nl, atoms, provenance } = body;
  return { id, signals, advice_nl, atoms, telemetry, provenance };
}

export function telemetryOf(row: Record<string, unknown>): Telemetry {
  return { hits: Number(row.hits), successes: Number(row.successes), failures: Number(row.failures) };
}

export function refuseFrozen({ frozen }: Identity, base: string): void {
  if (frozen === null) return;
  throw new UsageError(
    `${base}: is frozen (${frozen.slice(0, 12)}); export it and import the file into another base`,
  );
}
