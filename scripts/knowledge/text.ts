import { isKnownAtom } from "../../activities/knowledge/atoms/parse.ts";
import { renderAtoms, renderedScript } from "../../activities/knowledge/atoms/render.ts";
import type { Base } from "../../activities/knowledge/base.ts";
import { baseDigest } from "../../activities/knowledge/digest.ts";
import { defaultStanding } from "../../activities/knowledge/search/ranking.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";

/** A base in numbers, and the same as lines to read. */
export async function statsText(base: Base) {
  const units = await base.store.all();
  const { embedding, dimension, frozen } = await base.store.identity();
  const { refused } = await base.signals();
  const atoms = units.flatMap((unit) => unit.atoms);
  const stats = {
    base: base.name,
    units: units.length,
    embedding,
    dimension,
    digest: baseDigest(units, embedding),
    frozen: frozen !== null,
    languages: tally(units.map(({ signals }) => signals.applicability.lang || "any")),
    made: tally(units.map(({ provenance }) => provenance.made)),
    tiers: tally(units.map(({ telemetry }) => defaultStanding(telemetry).tier)),
    atoms: tally(atoms.map(({ name }) => name).filter(isKnownAtom)),
    unknown_atoms: tally(atoms.map(({ name }) => name).filter((name) => !isKnownAtom(name))),
    patterns: units.reduce((sum, { signals }) => sum + signals.regex.length, 0),
    refused_patterns: refused,
    without_provenance: units.filter(({ provenance }) => provenance.repositories === null).length,
    hits: sum(units, "hits"),
    successes: sum(units, "successes"),
    failures: sum(units, "failures"),
  };
  const lines = Object.entries(stats).map(([name, value]) => `${name.replaceAll("_", " ")}: ${shown(value)}`);
  return { stats, text: `${lines.join("\n")}\n` };
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return String(value.length);
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.entries(value).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

/** Most frequent first. */
function tally(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
}

function sum(units: readonly Unit[], field: keyof Unit["telemetry"]): number {
  return units.reduce((total, { telemetry }) => total + telemetry[field], 0);
}

/** A unit with what its atoms are in a shell, and the same as text to read. */
export function unitDetails(unit: Unit) {
  const rendered = renderAtoms(unit.atoms);
  const { signals, telemetry, provenance } = unit;
  const { lang, os, python, tools } = signals.applicability;
  const from = provenance.repositories?.map(({ name }) => name).join(", ") ?? "not known";
  const text = [
    unit.id,
    `applies to: ${[lang, ...os, ...python, ...tools].filter(Boolean).join(", ") || "anything"}`,
    ...signals.situation_triggers.map((trigger) => `when: ${trigger}`),
    ...signals.regex.map((regex) => `pattern: ${regex}`),
    `keywords: ${signals.keywords.join(", ")}`,
    ...unit.advice_nl.map((advice) => `advice: ${advice}`),
    `telemetry: ${telemetry.hits} hits, ${telemetry.successes} successes, ${telemetry.failures} failures`,
    `made: ${provenance.made}, from: ${from || "no repository"}`,
    "",
    renderedScript(rendered).trimEnd(),
    ...rendered.left.map(({ name, reason }) => `# ${name}: ${reason}`),
  ];
  return { details: { ...unit, rendered }, text: `${text.join("\n")}\n` };
}
