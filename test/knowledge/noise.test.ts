import { fileURLToPath } from "node:url";
import test from "ava";
import fc from "fast-check";
import { renderAtoms } from "../../activities/knowledge/atoms/render.ts";
import { readUnits } from "../../activities/knowledge/jsonl.ts";
import { countsOf, makeNoise, SHARES } from "../../activities/knowledge/noise/noise.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { unitOf } from "./units.ts";

const FILE = fileURLToPath(new URL("../../benchmarks/knowledge/seed.jsonl", import.meta.url));
const { units } = await readUnits(FILE);
const kindOf = ({ id }: Unit) => id.split("-")[1] ?? "";

test("noise has the published shares, and as many units as asked for", (t) => {
  const noise = makeNoise(units, 2_000, 1);
  const counts = Object.groupBy(noise, kindOf);
  t.deepEqual(
    Object.entries(counts).map(([kind, made]) => [kind, (made?.length ?? 0) / 2_000]),
    Object.entries(SHARES),
  );
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), (count) => {
      const parts = Object.values(countsOf(count));
      t.is(
        parts.reduce((sum, part) => sum + part, 0),
        count,
      );
      t.true(parts.every((part) => part >= 0));
    }),
  );
});

test("a seed gives the same noise again, another seed other noise, and no id twice", (t) => {
  const noise = makeNoise(units, 400, 7);
  t.deepEqual(makeNoise(units.toReversed(), 400, 7), noise);
  t.notDeepEqual(makeNoise(units, 400, 8), noise);
  t.is(new Set([...noise, ...makeNoise(units, 400, 8)].map(({ id }) => id)).size, 800);
});

test("each kind misleads in its own way, and says that it is noise and of what", (t) => {
  const byId = new Map(units.map((unit) => [unit.id, unit]));
  for (const made of makeNoise(units, 400, 3)) {
    const sources = made.provenance.from.map((id) => byId.get(id) as Unit);
    t.is(made.provenance.made, "noise");
    t.deepEqual(made.telemetry, { hits: 0, successes: 0, failures: 0 });
    const [source] = sources;
    if (kindOf(made) === "foreign") {
      t.not(made.signals.applicability.lang, "python");
      t.is(renderAtoms(made.atoms).commands.length, 1);
    } else if (kindOf(made) === "blur") {
      t.deepEqual(made.atoms, []);
      t.deepEqual(made.signals.regex, source?.signals.regex);
      t.notDeepEqual(made.advice_nl, source?.advice_nl);
    } else if (kindOf(made) === "context") {
      t.deepEqual(made.atoms, source?.atoms);
      t.notDeepEqual(made.signals.applicability, source?.signals.applicability);
    } else {
      t.true(sources.some(({ signals }) => signals.regex[0] === made.signals.regex[0]));
      t.true(sources.some(({ advice_nl }) => advice_nl[0] === made.advice_nl[0]));
    }
  }
});

test("noise is never made of noise, and carries the repositories of what it is made of", (t) => {
  const taught = unitOf("own", "alpha");
  taught.provenance.repositories = [{ name: "o/one", aliases: [], forkOf: null, rootCommit: null }];
  const first = makeNoise([taught], 40, 1);
  t.deepEqual(makeNoise([taught, ...first], 40, 1), first);
  const named = first.filter((made) => kindOf(made) !== "foreign");
  t.true(named.every(({ provenance }) => provenance.repositories?.[0]?.name === "o/one"));
  t.throws(() => makeNoise([], 1, 1), { instanceOf: RangeError });
});
