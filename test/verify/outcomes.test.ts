import test from "ava";
import fc from "fast-check";
import {
  addResults,
  grade,
  isPass,
  type Outcome,
  secondLookIds,
  tally,
  withSecondLook,
} from "../../activities/verify/outcomes.ts";
import type { RawOutcome } from "../../activities/verify/report.ts";

const OUTCOMES: readonly RawOutcome[] = ["passed", "xpassed", "xfailed", "skipped", "failed", "error"];

function outcomes(given: Record<string, RawOutcome>): Map<string, Outcome> {
  const map = new Map<string, Outcome>();
  addResults(
    map,
    Object.entries(given).map(([id, outcome]) => ({ id, outcome, seconds: 1, text: null })),
  );
  return map;
}

test("of several tests with one id the worst counts, whatever the order", (t) => {
  const map = new Map<string, Outcome>();
  const result = (outcome: RawOutcome, text: string | null) => ({ id: "a", outcome, seconds: 1, text });
  addResults(map, [result("passed", null), result("failed", "no"), result("passed", null)]);
  t.deepEqual(map.get("a"), { id: "a", outcome: "failed", seconds: 3, detail: "no", flaky: false });
});

test("the tally counts each test once", (t) => {
  const ids = fc.dictionary(fc.string(), fc.constantFrom(...OUTCOMES));
  fc.assert(
    fc.property(ids, (given) => {
      const { passed, failed, skipped, errors, flaky } = tally(outcomes(given).values());
      t.is(passed + failed + skipped + errors, Object.keys(given).length);
      t.is(flaky, 0);
    }),
  );
});

test("gold by ids counts those that pass, and each id once", (t) => {
  const ran = outcomes({ a: "passed", b: "failed", c: "xpassed", d: "skipped" });
  t.deepEqual(grade(ran, { ids: ["a", "b", "c", "gone", "a"] }), { verified: 4, passed: 1 });
});

test("gold by number is capped at it", (t) => {
  const ran = outcomes({ a: "passed", b: "passed", c: "passed", d: "failed" });
  t.deepEqual(grade(ran, { count: 2 }), { verified: 2, passed: 2 });
  t.deepEqual(grade(ran, { count: 5 }), { verified: 5, passed: 3 });
  t.is(grade(ran, null), null);
});

test("gold never passes more than is verified", (t) => {
  const given = fc.dictionary(fc.string(), fc.constantFrom(...OUTCOMES));
  const gold = fc.oneof(
    fc.record({ ids: fc.array(fc.string(), { minLength: 1 }) }),
    fc.record({ count: fc.integer({ min: 1, max: 10 }) }),
  );
  fc.assert(
    fc.property(given, gold, (ran, known) => {
      const { verified, passed } = grade(outcomes(ran), known) ?? { verified: 0, passed: 1 };
      t.true(passed <= verified && passed <= tally(outcomes(ran).values()).passed);
    }),
  );
});

test("the second look takes failures only, gold ones first, and no more than its limit", (t) => {
  const ran = outcomes({ a: "failed", b: "passed", c: "error", d: "failed", e: "skipped", f: "xfailed" });
  t.deepEqual(secondLookIds(ran.values(), null, 50), ["a", "c", "d"]);
  t.deepEqual(secondLookIds(ran.values(), { ids: ["d", "b"] }, 2), ["d", "a"]);
});

test("what passes in the second look is flaky and passed, nothing gets worse", (t) => {
  const first = outcomes({ a: "failed", b: "failed", c: "passed", d: "error" });
  const after = withSecondLook(first, outcomes({ a: "passed", b: "failed", c: "failed" }));
  t.deepEqual(
    [...after.values()].map(({ id, outcome, flaky }) => [id, outcome, flaky]),
    [
      ["a", "passed", true],
      ["b", "failed", false],
      ["c", "passed", false],
      ["d", "error", false],
    ],
  );
  t.true([...first.keys()].every((id) => after.has(id)));
  t.true(isPass(after.get("a")?.outcome ?? "error"));
});
