import test from "ava";
import fc from "fast-check";
import { memoryBase } from "../../activities/knowledge/base.ts";
import { lexicalEmbedding, lexicalVector } from "../../activities/knowledge/embedding/lexical.ts";
import { compilePattern } from "../../activities/knowledge/search/pattern.ts";
import {
  defaultComposite,
  defaultStanding,
  publishedComposite,
  publishedStanding,
} from "../../activities/knowledge/search/ranking.ts";
import { type SearchOptions, search } from "../../activities/knowledge/search/search.ts";
import { makeSignalIndex } from "../../activities/knowledge/search/signals.ts";
import { makeVectorIndex } from "../../activities/knowledge/store/vector-index.ts";
import type { Unit } from "../../activities/knowledge/unit.ts";
import { unitOf } from "./units.ts";

const told = (hits: number, successes: number, failures: number) => ({ hits, successes, failures });

function withRegex(id: string, regex: string[], more: Partial<Unit> = {}): Unit {
  const unit = unitOf(id, `keyword${id}`, more);
  unit.signals.regex = regex;
  return unit;
}

async function found(units: Unit[], text: string, options: Partial<SearchOptions> = {}, situation = {}) {
  const base = await memoryBase("test", units, lexicalEmbedding);
  const candidates = await search(
    base,
    { text, ...situation },
    { profile: "default", limit: 10, ...options },
  );
  await base.store.close();
  return candidates;
}

test("the published formula counts hits that nobody judged as failures", (t) => {
  t.is(publishedComposite(0.8, told(0, 0, 0)), 0.8);
  t.is(publishedComposite(0.8, told(4, 4, 0)), 0.8 * 2);
  t.is(publishedComposite(0.5, told(5, 3, 9)), 0.5 * 1.6 * 1.5);
  t.is(publishedComposite(0.5, told(10, 2, 0)), 0.5 * 1.2 * 0.6);
  t.is(publishedStanding(told(5, 3, 9)).tier, "golden");
  t.is(publishedStanding(told(10, 4, 0)).tier, "normal");
});

test("our formula takes failures into account, and being shown changes nothing", (t) => {
  const of = (hits: number, successes: number, failures: number) =>
    defaultComposite(0.5, told(hits, successes, failures));
  t.is(of(0, 0, 0), 0.5);
  t.is(of(500, 0, 0), 0.5);
  t.true(of(9, 5, 0) > of(9, 5, 3));
  t.true(of(9, 0, 3) < of(9, 0, 1));
  t.is(defaultStanding(told(100, 6, 0)).tier, "golden");
  t.is(defaultStanding(told(100, 0, 4)).tier, "cold");
  t.is(defaultStanding(told(100, 1, 1)).tier, "normal");
  t.is(defaultStanding(told(100, 0, 2)).tier, "normal");
});

test("more successes never rank a unit lower, and more failures never higher", (t) => {
  const count = fc.nat({ max: 60 });
  fc.assert(
    fc.property(count, count, (successes, failures) => {
      const of = (s: number, f: number) => defaultComposite(0.7, told(0, s, f));
      t.true(of(successes + 1, failures) >= of(successes, failures));
      t.true(of(successes, failures + 1) <= of(successes, failures));
    }),
  );
});

test("a unit that failed falls behind one that helped", async (t) => {
  const units = [
    withRegex("a", ["cannot find widget"], { telemetry: told(9, 0, 8) }),
    withRegex("b", ["cannot find widget"], { telemetry: told(9, 8, 0) }),
    withRegex("c", ["cannot find widget"]),
  ];
  const order = (await found(units, "error: cannot find widget")).map(
    ({ unit, tier }) => `${unit.id} ${tier}`,
  );
  t.deepEqual(order, ["b golden", "c normal", "a cold"]);
});

test("what is excluded is not found, neither by a pattern nor by likeness", async (t) => {
  const units = [withRegex("a", ["cannot find widget"]), withRegex("b", ["cannot find widget"])];
  const ids = async (profile: "default" | "published") =>
    (
      await found(units, "cannot find widget keyworda", { profile, minimum: 0.05, exclude: new Set(["a"]) })
    ).map(({ unit }) => unit.id);
  t.deepEqual(await ids("default"), ["b"]);
  t.false((await ids("published")).includes("a"));
});

test("a unit of another language is not found, one for another Python comes later", async (t) => {
  const python = (id: string, versions: string[], lang = "python") => {
    const unit = withRegex(id, ["cannot find widget"]);
    unit.signals.applicability = { lang, os: [], python: versions, tools: [] };
    return unit;
  };
  const units = [python("a", ["3.8"]), python("b", ["3.11"]), python("c", ["3.1"]), python("d", [], "rust")];
  const situation = { language: "python", python: "3.11" };
  const order = (await found(units, "cannot find widget", {}, situation)).map(({ unit }) => unit.id);
  t.is(order[0], "b");
  t.deepEqual(order.slice(1).sort(), ["a", "c"]);
});

test("named groups of the pattern that says most come first", async (t) => {
  const unit = withRegex("a", [
    "module '(?P<module>\\w+)'",
    "(?P<kind>\\w+)Error: no module '(?P<module>x\\w*)'",
  ]);
  const [candidate] = await found([unit], "module 'other'\nImportError: no module 'xyz'");
  t.deepEqual(candidate?.captures, { kind: "Import", module: "xyz" });
});

test("the same base and text give the same list, whatever the order of the units", async (t) => {
  const units = Array.from({ length: 30 }, (_, n) =>
    withRegex(`u${n}`, n % 2 ? ["cannot find"] : [`widget ${n}`]),
  );
  const text = "cannot find widget 4 keywordu7";
  const list = (candidates: Awaited<ReturnType<typeof found>>) =>
    candidates.map(({ unit, composite }) => `${unit.id} ${composite}`);
  t.deepEqual(list(await found(units, text)), list(await found(units.toReversed(), text)));
});

test("patterns for Python are read, those that are wrong or would run for ever are refused", (t) => {
  t.truthy(compilePattern("(?i)no module named '(?P<name>\\w+)'"));
  for (const source of ["(", "", "(a+)+b", "(?:x*)*y", "(.*)*", ".*", "(?:\\w+\\s?)+$", "x.*.*.*.*.*y"]) {
    t.is(compilePattern(source), null, source);
  }
  const { refused } = makeSignalIndex([withRegex("a", ["(a+)+b", "fine text"])]);
  t.deepEqual(refused, [{ unit: "a", regex: "(a+)+b" }]);
});

test("the index of patterns finds what trying each of them finds", (t) => {
  const word = fc.constantFrom("alpha", "beta", "gam", "x", "error:", "no", "'q'");
  const joint = fc.constantFrom(" ", "\\s+", ".*", "(?:z)?", "|", "[ab]", "s?", "{1,2}", "\\.");
  const source = fc
    .array(fc.tuple(word, joint), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.flat().join(""));
  const text = fc
    .array(fc.oneof(word, fc.constantFrom(".", "z", "a")), { maxLength: 12 })
    .map((parts) => parts.join(" "));
  fc.assert(
    fc.property(fc.array(source, { maxLength: 6 }), text, (sources, said) => {
      const units = sources.map((regex, n) => withRegex(`u${n}`, [regex]));
      const index = makeSignalIndex(units);
      const expected = units
        .filter(({ signals }) => compilePattern(signals.regex[0] ?? "")?.expression.test(said))
        .map(({ id }) => id);
      t.deepEqual([...index.match(said).keys()].sort(), expected.sort());
    }),
    { numRuns: 300 },
  );
});

test("the index of vectors finds what comparing with each of them finds", (t) => {
  const vector = fc.array(fc.constantFrom(0, 0, 0, 1, -1, 0.5), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(vector, { maxLength: 12 }), vector, fc.nat({ max: 5 }), (rows, query, limit) => {
      const index = makeVectorIndex(8);
      for (const [n, row] of rows.entries()) index.set(`u${n % 9}`, "python", Float32Array.from(row));
      const kept = new Map(rows.map((row, n) => [`u${n % 9}`, row]));
      const expected = [...kept]
        .map(([id, row]) => ({
          id,
          similarity: row.reduce<number>((sum, value, n) => sum + value * (query[n] ?? 0), 0),
        }))
        .filter(({ similarity }) => similarity >= 0.5)
        .sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1))
        .slice(0, limit + 1);
      t.deepEqual(index.nearest(Float32Array.from(query), { limit: limit + 1, minimum: 0.5 }), expected);
    }),
  );
});

test("lexical vectors have length one, are equal for equal texts and near for like ones", (t) => {
  const cosine = (a: string, b: string) => {
    const [one, other] = [lexicalVector(a), lexicalVector(b)];
    return one.reduce((sum, value, n) => sum + value * (other[n] ?? 0), 0);
  };
  const text = "fatal error: zlib.h: No such file or directory";
  t.true(Math.abs(cosine(text, text) - 1) < 1e-6);
  t.true(cosine(text, "zlib.h is missing") > cosine(text, "poetry.lock is out of date") + 0.1);
  t.is(cosine("", text), 0);
});
