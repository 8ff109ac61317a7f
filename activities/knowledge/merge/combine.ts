import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import type { Atom, Origin, Provenance, Unit } from "../unit.ts";
import { overlap } from "./judge.ts";

/** More advice than this is read by nobody. */
const MOST_ADVICE = 7;
const SAME_ADVICE = 0.7;

/**
 * One unit that says what both do, under the id of the known one: signals, advice and atoms of both, what was counted of
 * both, and the repositories of both, so that leaving out either leaves out the whole.
 */
export function combine(known: Unit, incoming: Unit): Unit {
  const [a, b] = [known.signals, incoming.signals];
  return {
    id: known.id,
    signals: {
      applicability: {
        lang: a.applicability.lang,
        os: where(a.applicability.os, b.applicability.os),
        python: where(a.applicability.python, b.applicability.python),
        tools: where(a.applicability.tools, b.applicability.tools),
      },
      regex: union(a.regex, b.regex),
      keywords: unionBy(a.keywords, b.keywords, (keyword) => keyword.toLowerCase()),
      situation_triggers: unionBy(a.situation_triggers, b.situation_triggers, (text) => text.toLowerCase()),
    },
    advice_nl: combineAdvice(known.advice_nl, incoming.advice_nl),
    atoms: combineAtoms(known.atoms, incoming.atoms),
    telemetry: {
      hits: known.telemetry.hits + incoming.telemetry.hits,
      successes: known.telemetry.successes + incoming.telemetry.successes,
      failures: known.telemetry.failures + incoming.telemetry.failures,
    },
    provenance: combineProvenance(known, incoming),
  };
}

/** An empty list applies everywhere, and so does its union with any other. */
function where(a: readonly string[], b: readonly string[]): string[] {
  return a.length === 0 || b.length === 0 ? [] : union(a, b);
}

function combineAdvice(known: readonly string[], incoming: readonly string[]): string[] {
  const advice = [...known];
  for (const item of incoming) {
    if (!advice.some((said) => overlap(words(said), words(item)) >= SAME_ADVICE)) advice.push(item);
  }
  return advice.slice(0, Math.max(MOST_ADVICE, known.length));
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? [];
}

/** One version of a package is enough: the known one stays. */
function combineAtoms(known: readonly Atom[], incoming: readonly Atom[]): Atom[] {
  const packages = new Set(known.map(packageOf).filter((name) => name !== null));
  const added = incoming.filter((atom) => {
    const name = packageOf(atom);
    return name === null || !packages.has(name);
  });
  return unionBy(known, added, (atom) => canonicalJson(atom));
}

function packageOf({ name, args }: Atom): string | null {
  if (!["pip_install", "pip_pin", "or_upgrade_pkg"].includes(name)) return null;
  const target = args.name ?? args.package;
  return typeof target === "string" ? target.toLowerCase().replaceAll(/[-_.]+/g, "-") : null;
}

function combineProvenance(known: Unit, incoming: Unit): Provenance {
  const [a, b] = [known.provenance, incoming.provenance];
  const unknown = a.repositories === null || b.repositories === null;
  const repositories = unknown
    ? null
    : unionBy<Origin>(a.repositories ?? [], b.repositories ?? [], (origin) => canonicalJson(origin));
  return {
    made: "merged",
    repositories,
    sweep: a.sweep === b.sweep ? a.sweep : null,
    run: a.run === b.run ? a.run : null,
    from: union([...a.from, known.id], [...b.from, incoming.id]),
  };
}

function union(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...a, ...b])];
}

function unionBy<T>(a: readonly T[], b: readonly T[], key: (item: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const item of [...a, ...b]) if (!seen.has(key(item))) seen.set(key(item), item);
  return [...seen.values()];
}
