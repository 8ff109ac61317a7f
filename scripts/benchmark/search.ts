import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Base, openBase, putUnits, SEED } from "../../activities/knowledge/base.ts";
import { makeRandom } from "../../activities/knowledge/noise/random.ts";
import { search } from "../../activities/knowledge/search/search.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { median, timed } from "./timing.ts";
import { undone } from "./undo.ts";

const QUESTIONS = 200;

export interface Search {
  units: number;
  fill_seconds: number;
  /** The first search of a process, which compiles the signals. */
  first_ms: number;
  p50_ms: number;
  p95_ms: number;
}

/** Searches of an embedded base on disk, filled with the seed's units and others made of the seed's words. */
export async function measureSearch(units: number): Promise<Search> {
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-search-"));
  return undone(
    async () => {
      const seed = await (await openBase(SEED, { stateFolder })).store.all();
      const filled = await openBase("large", { stateFolder, create: "lexical" });
      const fill = await timed(() => putUnits(filled, [...seed, ...others(seed, units - seed.length)]));
      await filled.store.close();
      const base = await openBase("large", { stateFolder });
      const times: number[] = [];
      for (const text of questions(seed)) times.push(await timed(() => ask(base, text)));
      await base.store.close();
      const [first = Number.NaN, ...rest] = times;
      const sorted = rest.toSorted((a, b) => a - b);
      const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
      return { units, fill_seconds: fill / 1_000, first_ms: first, p50_ms: median(rest), p95_ms: p95 };
    },
    () => rm(stateFolder, { recursive: true, force: true }),
  );
}

function ask(base: Base, text: string): Promise<unknown> {
  return search(base, { text, language: "python" }, { profile: "default", limit: 10 });
}

/** Units with signals of their own, so that neither vectors nor patterns repeat. */
function others(seed: readonly Unit[], count: number): Unit[] {
  const random = makeRandom(1);
  const words = [...new Set(seed.flatMap(({ advice_nl }) => advice_nl.join(" ").match(/[a-z]{4,}/gi) ?? []))];
  const some = (length: number) => Array.from({ length }, () => random.pick(words));
  return Array.from({ length: count }, (_, index) => {
    const model = seed[index % seed.length];
    if (model === undefined) throw new Error("the seed base is empty");
    const signals = { ...model.signals, keywords: some(4), regex: [`${some(2).join(" .*")} ${index}`] };
    return { ...model, id: `other-${index}`, signals, advice_nl: [some(20).join(" ")] };
  });
}

function questions(seed: readonly Unit[]): string[] {
  return Array.from({ length: QUESTIONS }, (_, index) => {
    const { signals, advice_nl } = seed[(index * 7) % seed.length] as Unit;
    return `Command failed with exit code ${index % 3}\n${signals.keywords.join(" ")}\n${advice_nl.join("\n")}`;
  });
}
