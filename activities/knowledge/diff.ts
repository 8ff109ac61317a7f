import { canonicalJson } from "../../benchmarks/canonical-json.ts";
import type { Unit } from "./unit.ts";

export interface UnitChange {
  id: string;
  change: "added" | "removed" | "changed";
  /** Which fields differ. */
  fields: string[];
}

const FIELDS = ["signals", "advice_nl", "atoms", "telemetry", "provenance"] as const;

/** What became of the units of `before`, by id. */
export function diffUnits(before: readonly Unit[], after: readonly Unit[]): UnitChange[] {
  const [old, now] = [byId(before), byId(after)];
  const ids = [...new Set([...old.keys(), ...now.keys()])].sort();
  return ids.flatMap((id): UnitChange[] => {
    const [was, is] = [old.get(id), now.get(id)];
    if (was === undefined) return [{ id, change: "added", fields: [] }];
    if (is === undefined) return [{ id, change: "removed", fields: [] }];
    const fields = FIELDS.filter((field) => canonicalJson(was[field]) !== canonicalJson(is[field]));
    return fields.length === 0 ? [] : [{ id, change: "changed", fields }];
  });
}

function byId(units: readonly Unit[]): Map<string, Unit> {
  return new Map(units.map((unit) => [unit.id, unit]));
}
