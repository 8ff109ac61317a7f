import { isDeepStrictEqual } from "node:util";
import type { Origin, Unit } from "../unit.ts";
import { FOREIGN, VAGUE_ADVICE, VAGUE_KEYWORDS } from "./phrases.ts";
import { makeRandom, type Random } from "./random.ts";

/** How much of the noise is of which kind. */
export const SHARES = { context: 0.35, graft: 0.25, blur: 0.25, foreign: 0.15 } as const;
type Kind = keyof typeof SHARES;

const PYTHONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"];
const SYSTEMS = [["linux"], ["linux", "macos"], ["linux", "windows"]];
const TOOLS = ["conda", "poetry", "pipenv", "pdm", "hatch", "uv", "mamba"];

/**
 * `count` misleading units made of `units`: right advice under a wrong context, parts of three units grafted onto each
 * other, advice blurred until it says nothing, and problems of other languages. Ids are `noise-KIND-SEED-NUMBER`, so that
 * noise of two seeds can lie in one base.
 */
export function makeNoise(units: readonly Unit[], count: number, seed: number): Unit[] {
  const sources = units
    .filter(({ provenance }) => provenance.made !== "noise")
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (sources.length === 0) throw new RangeError("noise is made of units, and there are none");
  const random = makeRandom(seed);
  const counts = countsOf(count);
  return (Object.keys(SHARES) as Kind[]).flatMap((kind) =>
    Array.from({ length: counts[kind] }, (_, index) => {
      const made = MAKERS[kind](sources, random, index);
      return { ...made, id: `noise-${kind}-${seed}-${String(index + 1).padStart(5, "0")}` };
    }),
  );
}

/** Whole numbers of the shares; what rounding leaves is foreign, as in the published generator. */
export function countsOf(count: number): Record<Kind, number> {
  const [context, graft, blur] = [SHARES.context, SHARES.graft, SHARES.blur].map((share) =>
    Math.floor(count * share + 1e-9),
  ) as [number, number, number];
  return { context, graft, blur, foreign: count - context - graft - blur };
}

const MAKERS: Record<Kind, (units: readonly Unit[], random: Random, index: number) => Unit> = {
  context: (units, random) => {
    const unit = random.pick(units);
    const { applicability } = unit.signals;
    const changed = perturbed(applicability, random);
    return noisy({ ...unit, signals: { ...unit.signals, applicability: changed } }, [unit]);
  },
  graft: (units, random) => {
    const [context, signals, advice] = [random.pick(units), random.pick(units), random.pick(units)];
    const atoms = random.pick([context, signals, advice]).atoms;
    const { applicability } = context.signals;
    return noisy({ ...advice, signals: { ...signals.signals, applicability }, atoms }, [
      context,
      signals,
      advice,
    ]);
  },
  blur: (units, random) => {
    const unit = random.pick(units);
    const keywords = [...random.pick(VAGUE_KEYWORDS)];
    const advice_nl = [...random.pick(VAGUE_ADVICE)];
    return noisy({ ...unit, signals: { ...unit.signals, keywords }, advice_nl, atoms: [] }, [unit]);
  },
  foreign: (_, __, index) => {
    const problem = FOREIGN[index % FOREIGN.length] as (typeof FOREIGN)[number];
    const signals = {
      applicability: { lang: problem.lang, os: ["linux"], python: [], tools: [...problem.tools] },
      regex: [...problem.regex],
      keywords: [...problem.keywords],
      situation_triggers: [problem.trigger],
    };
    const atoms = [{ name: "shell", args: { cmd: problem.command } }];
    return noisy({ id: "", signals, advice_nl: [problem.advice], atoms } as unknown as Unit, []);
  },
};

/** Draws until something differs from what the unit says: a context that is the same would be no noise. */
function perturbed(
  applicability: Unit["signals"]["applicability"],
  random: Random,
): Unit["signals"]["applicability"] {
  for (;;) {
    const tool = random.next() < 0.5 ? [random.pick(TOOLS)] : [];
    const changed = {
      lang: applicability.lang,
      python: [random.pick(PYTHONS)],
      os: [...random.pick(SYSTEMS)],
      tools: [...new Set([...applicability.tools, ...tool])],
    };
    if (!isDeepStrictEqual(changed, { ...applicability })) return changed;
  }
}

/** A copy that nobody has used, and that says where it is from. */
function noisy(unit: Unit, from: readonly Unit[]): Unit {
  const { signals, advice_nl, atoms } = structuredClone({ ...unit, provenance: undefined });
  const origins = from.map(({ provenance }) => provenance.repositories);
  const repositories = origins.includes(null)
    ? null
    : [...new Map((origins as Origin[][]).flat().map((origin) => [origin.name, origin])).values()];
  return {
    id: unit.id,
    signals,
    advice_nl,
    atoms,
    telemetry: { hits: 0, successes: 0, failures: 0 },
    provenance: {
      made: "noise",
      repositories,
      sweep: null,
      run: null,
      from: [...new Set(from.map(({ id }) => id))],
    },
  };
}
