import { createHash } from "node:crypto";
import { canonicalJson } from "../../benchmarks/canonical-json.ts";
import type { Unit } from "./unit.ts";

/** Digest of all that a search depends on: what units say, their telemetry, and where their vectors come from. */
export function baseDigest(units: readonly Unit[], embedding: string): string {
  const hash = createHash("sha256").update(`${embedding}\n`);
  const sorted = units.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const unit of sorted) hash.update(`${canonicalJson(unit)}\n`);
  return hash.digest("hex");
}
