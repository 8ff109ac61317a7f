import test from "ava";
import fc from "fast-check";
import { breakdown, summarise, summariseRepeats } from "../../results/metrics.ts";
import type { RunRecord } from "../../results/record.ts";
import { wilson } from "../../results/statistics.ts";
import { infrastructureRecord, recordOf } from "./record-fixture.ts";

const failed = (changes: Partial<RunRecord> = {}) =>
  recordOf({
    cause: "collection_failed",
    ebsr: false,
    essr: 0,
    collection: { ok: false, count: 0, errors: 2 },
    tests: null,
    gold: { verified: 90, passed: 0 },
    self_claim: true,
    ...changes,
  });

test("each (system, arm) has tier all first, then its tiers in order of difficulty", (t) => {
  const records = [
    recordOf({ system: "nop", task: "a", tier: "high" }),
    recordOf({ system: "nop", task: "b", tier: "low" }),
    recordOf({ system: "nop", task: "c", tier: null }),
    recordOf({ system: "naive", task: "a", tier: "medium" }),
  ];
  const rows = summarise(records).map(({ system, tier, n }) => `${system} ${tier} ${n}`);
  t.deepEqual(rows, ["naive all 1", "naive medium 1", "nop all 3", "nop low 1", "nop high 1"]);
});

test("infrastructure failures stay in every denominator as failed and are shown apart", (t) => {
  const [all] = summarise([
    recordOf({ task: "a" }),
    recordOf({ task: "b", essr: 0.5, cause: "tests_failed" }),
    failed({ task: "c" }),
    infrastructureRecord({ task: "d" }),
  ]);
  t.like(all, { n: 4, graded: 3, infrastructure: 1, ebsr: 0.5, essr: 0.375, self_claim: 0.75 });
  t.is(all?.ebsr_low, wilson(2, 4)?.low ?? null);
  t.true((all?.essr_low ?? 1) < 0.375 && (all?.essr_high ?? 0) > 0.375);
});

test("tasks without gold are kept out of ESSR and counted by what they collected", (t) => {
  const noGold = { gold: null, essr: null };
  const [all] = summarise([
    recordOf({ task: "a" }),
    recordOf({ task: "b", ...noGold }),
    failed({ task: "c", ...noGold }),
    infrastructureRecord({ task: "d", ...noGold }),
  ]);
  t.is(all?.essr, 1);
  t.true(Math.abs((all?.essr_collected ?? 0) - 0.9 / 3) < 1e-12);
  const [withGold] = summarise([recordOf()]);
  t.is(withGold?.essr_collected, null);
  t.is(withGold?.essr_collected_low, null);
});

test("what was not measured is null, never 0", (t) => {
  const [all] = summarise([infrastructureRecord({ gold: null, essr: null })]);
  t.like(all, {
    essr: null,
    pass_rate: null,
    self_claim: null,
    steps_mean: null,
    tokens_input: null,
    tokens_output: null,
    cost_usd: null,
    wall_seconds_median: null,
    working_seconds_median: null,
  });
});

test("once an arm is adjudicated, guilty, timeout and unadjudicated runs all fail", (t) => {
  const [all, low, high] = summarise([
    recordOf({ task: "a", verdict: "not_guilty" }),
    recordOf({ task: "b", verdict: "guilty" }),
    recordOf({ task: "c", verdict: "timeout" }),
    infrastructureRecord({ task: "d", tier: "high" }),
  ]);
  t.is(all?.pass_rate, 0.25);
  t.true(Math.abs((low?.pass_rate ?? 0) - 1 / 3) < 1e-12);
  t.is(high?.pass_rate, 0);
});

test("setup tokens leave out evaluation and distillation, a rules policy's zero tokens are measured", (t) => {
  const usage = (input: number) => ({ input, cached: 0, output: 10, reasoning: 0 });
  const [all] = summarise([
    recordOf({
      task: "a",
      tokens: {
        setup: usage(100),
        retriever: usage(20),
        judge: usage(7),
        prosecutor: usage(7),
        distiller: usage(7),
      },
      cost: { measured_usd: 0.5, unmeasured_calls: 1, unsettled_calls: 0, unsettled_usd: 0 },
    }),
    infrastructureRecord({
      task: "b",
      tokens: { setup: usage(1) },
      cost: { measured_usd: 0.25, unmeasured_calls: 0, unsettled_calls: 0, unsettled_usd: 0 },
    }),
  ]);
  t.like(all, { tokens_input: 121, tokens_output: 30, cost_usd: 0.75 });
  const [rules] = summarise([
    recordOf({ tokens: { setup: { input: 0, cached: 0, output: 0, reasoning: 0 } } }),
  ]);
  t.like(rules, { tokens_input: 0, tokens_output: 0, cost_usd: 0 });
});

test("cost of calls without a price is not measured, never zero", (t) => {
  const tokens = { setup: { input: 5, cached: 0, output: 1, reasoning: 0 } };
  const cost = (measured_usd: number, unmeasured_calls: number) => ({
    measured_usd,
    unmeasured_calls,
    unsettled_calls: 0,
    unsettled_usd: null,
  });
  t.is(summarise([recordOf({ tokens, cost: cost(0, 3) })])[0]?.cost_usd, null);
  t.is(summarise([recordOf({ tokens, cost: cost(0.5, 3) })])[0]?.cost_usd, 0.5);
});

test("repeats weigh repositories equally in ESSR, widen the interval and give pass@k and pass^k", (t) => {
  const repeated = [
    ...[1, 1, 1, 1].map((essr) => recordOf({ task: "a", essr })),
    failed({ task: "b" }),
    recordOf({ task: "b" }),
  ];
  const [all] = summarise(repeated);
  t.is(all?.essr, 0.75);
  t.is(all?.ebsr, 5 / 6);
  t.true((all?.ebsr_low ?? 1) <= (wilson(5, 6)?.low ?? 0));
  const repeats = summariseRepeats(repeated);
  t.like(repeats[0], { k: 2, repositories: 2, ebsr_pass_at_k: 1, ebsr_pass_hat_k: 0.5 });
  t.like(repeats[2], { k: 4, repositories: 1 });
  t.deepEqual(summariseRepeats([recordOf({ task: "a" }), recordOf({ task: "b" })]), []);
});

test("a breakdown by any property leaves out records without it", (t) => {
  const records = [recordOf({ task: "a", area: "web" }), recordOf({ task: "b", area: null })];
  t.deepEqual(
    breakdown(records, (record) => record.area).map(({ tier, n }) => [tier, n]),
    [["web", 1]],
  );
});

test("for any records: tiers sum to all, intervals hold their rates, order does not matter", (t) => {
  const someRecord = fc
    .record({
      system: fc.constantFrom("naive", "nop"),
      task: fc.constantFrom("a", "b", "c", "d", "e"),
      tier: fc.constantFrom("low", "medium", "high"),
      ebsr: fc.boolean(),
      essr: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      lost: fc.boolean(),
    })
    .map(({ lost, ...changes }) => (lost ? infrastructureRecord(changes) : recordOf(changes)));
  fc.assert(
    fc.property(fc.array(someRecord, { minLength: 1, maxLength: 20 }), (records) => {
      const groups = summarise(records);
      const sumOf = (tiers: (tier: string) => boolean) =>
        groups.filter(({ tier }) => tiers(tier)).reduce((sum, { n }) => sum + n, 0);
      const inside = groups.every(
        (group) =>
          group.n === group.graded + group.infrastructure &&
          (group.ebsr_low ?? 0) <= (group.ebsr ?? 0) + 1e-9 &&
          (group.essr === null) === (group.essr_low === null) &&
          (group.essr_high ?? 1) >= (group.essr ?? 0) - 1e-9,
      );
      const bothWays = groups.map(({ ebsr, n }) => [ebsr, n]);
      const reversed = summarise([...records].reverse()).map(({ ebsr, n }) => [ebsr, n]);
      return (
        inside &&
        sumOf((tier) => tier === "all") === records.length &&
        sumOf((tier) => tier !== "all") === records.length &&
        JSON.stringify(bothWays) === JSON.stringify(reversed)
      );
    }),
    { numRuns: 40 },
  );
  t.pass();
});
