import test from "ava";
import { compareArms } from "../../results/compare.ts";
import { renderComparison } from "../../results/compare-table.ts";
import { infrastructureRecord, recordOf } from "./record-fixture.ts";

const tasks = Array.from({ length: 20 }, (_, index) => `t${String(index).padStart(2, "0")}`);
const arm = (system: string, passes: (index: number) => boolean, seconds = 30) =>
  tasks.map((task, index) => {
    const ebsr = passes(index);
    return recordOf({
      system,
      task,
      ebsr,
      essr: ebsr ? 1 : 0.2,
      cause: ebsr ? null : "collection_failed",
      wall_seconds: seconds + index,
    });
  });

test("two arms are compared on the same repositories with McNemar's p and the discordant list", (t) => {
  const a = arm("a", (index) => index < 18, 40);
  const b = arm("b", (index) => index >= 8 && index < 19);
  const comparison = compareArms({ label: "a", records: a }, { label: "b", records: b });
  const [ebsr] = comparison.rates;
  t.like(ebsr, { metric: "ebsr", n: 20, a: 0.9, b: 0.55, bOnly: ["t18"] });
  t.deepEqual(ebsr?.aOnly, tasks.slice(0, 8));
  t.true(Math.abs((ebsr?.difference ?? 0) - 0.35) < 1e-12);
  t.true(Math.abs((ebsr?.p ?? 0) - (2 * (1 + 9)) / 512) < 1e-9);
  t.true((ebsr?.low ?? -1) > 0 && (ebsr?.high ?? 1) < 0.65);
  t.true((ebsr?.smallest ?? 0) > 0.3 && (ebsr?.smallest ?? 1) < 0.6);
  const essr = comparison.means.find(({ metric }) => metric === "essr");
  t.true(Math.abs((essr?.difference ?? 0) - 0.35 * 0.8) < 1e-9);
  t.true((essr?.low ?? -1) > 0);
});

test("swapping the arms turns every difference round and keeps p", (t) => {
  const a = { label: "a", records: arm("a", (index) => index % 3 !== 0) };
  const b = { label: "b", records: arm("b", (index) => index % 2 === 0, 50) };
  const [forth, back] = [compareArms(a, b), compareArms(b, a)];
  for (const [index, rate] of forth.rates.entries()) {
    t.is(back.rates[index]?.p, rate.p);
    t.deepEqual(back.rates[index]?.bOnly, rate.aOnly);
  }
  for (const [index, mean] of forth.means.entries())
    t.true(Math.abs(mean.difference + (back.means[index]?.difference ?? 99)) < 1e-9, mean.metric);
});

test("repositories that only one side ran are left out and named", (t) => {
  const [first, ...rest] = arm("a", () => true);
  const b = arm("b", () => true).slice(0, -1);
  const comparison = compareArms({ label: "a", records: rest }, { label: "b", records: b });
  t.is(comparison.repositories, 18);
  t.deepEqual(comparison.unpaired, { a: ["t19"], b: [first?.task ?? ""] });
});

test("infrastructure failures count as failed in rates and are left out of time", (t) => {
  const a = [infrastructureRecord({ task: "x" }), recordOf({ task: "y" })];
  const b = [recordOf({ task: "x" }), recordOf({ task: "y" })];
  const comparison = compareArms({ label: "a", records: a }, { label: "b", records: b });
  t.like(comparison.rates[0], { a: 0.5, b: 1, bOnly: ["x"] });
  t.is(comparison.means.find(({ metric }) => metric === "wall_seconds")?.n, 1);
  t.is(
    comparison.means.find(({ metric }) => metric === "tokens"),
    undefined,
  );
});

test("a side that never claims has no claim to compare, and equal sides have no interval", (t) => {
  const silent = [recordOf({ task: "x", self_claim: null })];
  const comparison = compareArms(
    { label: "a", records: silent },
    { label: "b", records: [recordOf({ task: "x" })] },
  );
  t.deepEqual(
    comparison.rates.map(({ metric }) => metric),
    ["ebsr"],
  );
  t.like(comparison.rates[0], { difference: 0, low: null, high: null, p: 1, smallest: null });
});

test("the comparison reads as a table and lists the repositories where the arms disagree", (t) => {
  const a = { label: "one", records: arm("a", (index) => index < 18) };
  const b = { label: "two", records: arm("b", (index) => index >= 8 && index < 19).slice(0, 19) };
  const text = renderComparison(compareArms(a, b), { width: 100 });
  t.true(
    text.startsWith(
      "A one against B two on 19 repositories that both ran (1 that only one ran are left out).",
    ),
  );
  t.regex(text, /^EBSR % +19 +94\.7 +57\.9 +\+36\.8 \[\+\d+\.\d … \+\d+\.\d\]/m);
  t.true(text.includes("EBSR %, B better: t18"));
  for (const line of text.split("\n").slice(0, 8)) t.true(line.length <= 100, line);
  const nothing = renderComparison(compareArms(a, { label: "empty", records: [] }));
  t.is(nothing.split("\n").length, 1);
});
