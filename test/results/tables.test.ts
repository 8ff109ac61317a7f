import test from "ava";
import fc from "fast-check";
import { summarise } from "../../results/metrics.ts";
import { compareWithRecorded, renderRecordedComparison } from "../../results/recorded.ts";
import { renderTable, renderTabSeparated } from "../../results/table.ts";
import { infrastructureRecord, recordOf } from "./record-fixture.ts";

const groups = () =>
  summarise([
    ...["a", "b", "c"].map((task) => recordOf({ task, system: "oracle" })),
    recordOf({
      task: "a",
      system: "pipreqs",
      tier: "high",
      ebsr: false,
      essr: 0.25,
      self_claim: null,
      wall_seconds: 754,
    }),
    infrastructureRecord({ task: "b", system: "pipreqs", tier: "low" }),
  ]);

test("the table at the end of a sweep is aligned, with intervals in brackets", (t) => {
  t.is(
    renderTable(groups()),
    [
      "system   tier  n          EBSR %          ESSR %         claim %     time  infra",
      "oracle   all   3  100.0 [44–100]  100.0 [44–100]  100.0 [44–100]     30 s      0",
      "oracle   low   3  100.0 [44–100]  100.0 [44–100]  100.0 [44–100]     30 s      0",
      "pipreqs  all   2    0.0 [0–66]     12.5 [0–25]        –           12m 34s      1",
      "pipreqs  low   1    0.0 [0–79]      0.0 [0–79]        –                 –      1",
      "pipreqs  high  1    0.0 [0–79]     25.0 [1–88]        –           12m 34s      0",
    ].join("\n"),
  );
});

test("a narrow table drops its intervals first, then shortens names, and never cuts a number", (t) => {
  const wide = summarise([recordOf({ system: "a-system-with-a-long-name", arm: "an-arm-with-a-long-name" })]);
  t.true(renderTable(wide, { width: 150 }).includes("[21–100]"));
  const bare = renderTable(wide, { width: 100 });
  t.false(bare.includes("["));
  t.true(bare.includes("an-arm-with-a-long-name"));
  const narrow = renderTable(wide, { width: 70 });
  t.true(narrow.includes("…"));
  for (const line of narrow.split("\n")) t.true(line.length <= 70, line);
  t.is(narrow.split("\n")[1]?.match(/100\.0/g)?.length, 3);
});

test("any width from 60 up holds every line, with colour only when asked", (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 60, max: 160 }), (width) => {
      const plain = renderTable(groups(), { width });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what is looked for
      const colored = renderTable(groups(), { width, color: true }).replace(/\u001b\[\d+m/g, "");
      const trimmed = (text: string) => text.split("\n").map((line) => line.trimEnd());
      return (
        trimmed(plain).every((line) => line.length <= width) &&
        JSON.stringify(trimmed(plain)) === JSON.stringify(trimmed(colored)) &&
        !plain.includes("\u001b")
      );
    }),
  );
  t.true(renderTable(groups(), { color: true }).includes("\u001b[33m"));
});

test("names can't smuggle escape sequences or lines into a terminal", (t) => {
  const hostile = summarise([recordOf({ system: "evil\u001b[2J\nsecond\tline\u202e" })]);
  for (const character of ["\u001b", "\u202e"]) t.false(renderTable(hostile).includes(character));
  t.is(renderTable(hostile).split("\n").length, 3);
  const separated = renderTabSeparated(hostile).split("\n");
  t.is(separated.length, 3);
  t.is(separated[0]?.split("\t").length, separated[1]?.split("\t").length);
});

test("the tab-separated table leaves what was not measured empty", (t) => {
  const [header = "", row = ""] = renderTabSeparated(groups()).split("\n");
  t.is(row.split("\t")[header.split("\t").indexOf("cost_usd")], "");
  t.is(row.split("\t")[header.split("\t").indexOf("ebsr")], "1");
});

const naive = { install_ok: true, collect_ok: true, passed: 90, failed: 0, errors: 0 };

test("a naive run that gives the recorded numbers agrees in every field", (t) => {
  const comparison = compareWithRecorded([recordOf({ task: "a" })], [{ id: "a", naive }]);
  t.like(comparison, { compared: 1, agreeing: ["a"], differences: [], missing: [] });
  t.is(comparison.agreements.passed, 1);
});

test("differences from the recorded naive result are named by task and field", (t) => {
  const tasks = [
    { id: "a", naive: { ...naive, passed: 89, failed: 1 } },
    { id: "b", naive: { install_ok: true, collect_ok: false, passed: 0, failed: 0, errors: 2 } },
    { id: "c", naive },
    { id: "d", naive },
    { id: "e", naive: null },
  ];
  const records = [
    recordOf({ task: "a" }),
    recordOf({ task: "b", collection: { ok: false, count: 0, errors: 2 }, tests: null, ebsr: false }),
    infrastructureRecord({ task: "c" }),
    recordOf({ task: "e" }),
  ];
  const comparison = compareWithRecorded(records, tasks);
  t.deepEqual(
    comparison.differences.filter(({ task }) => task === "a"),
    [
      { task: "a", field: "passed", recorded: 89, fresh: 90, explanation: null },
      { task: "a", field: "failed", recorded: 1, fresh: 0, explanation: null },
    ],
  );
  t.deepEqual(comparison.agreeing, ["b"]);
  t.deepEqual(comparison.missing, ["d"]);
  t.deepEqual(
    comparison.differences.filter(({ task }) => task === "c").map(({ fresh }) => fresh),
    [null, null, null, null, null],
  );
  t.deepEqual(comparison.agreements, { install_ok: 2, collect_ok: 2, passed: 1, failed: 1, errors: 2 });
  const text = renderRecordedComparison(comparison);
  t.true(text.startsWith("1 of 3 tasks agree with the recorded result in every field (install_ok 2,"));
  t.true(text.includes("Not run: d."));
  t.regex(text, /^a {5}passed +89 +90$/m);
});

test("a difference that the record itself accounts for says why", (t) => {
  const failedCollection = { install_ok: true, collect_ok: false, passed: 0, failed: 0, errors: 0 };
  const tests = { passed: 50, failed: 1, skipped: 0, errors: 1, flaky: 0, seconds: 1 };
  const explanations = (record: ReturnType<typeof recordOf>, recorded: typeof naive) =>
    compareWithRecorded([record], [{ id: "click", naive: recorded }]).differences.map(
      ({ field, explanation }) => `${field}: ${explanation}`,
    );
  const goesOn = recordOf({ collection: { ok: false, count: 52, errors: 1 }, tests, ebsr: false });
  t.deepEqual(explanations(goesOn, failedCollection), [
    "errors: collection failed in both; pytest may end before it counts its errors",
  ]);
  const flaky = recordOf({ tests: { ...tests, passed: 90, failed: 0, errors: 0, flaky: 2 } });
  t.deepEqual(explanations(flaky, { ...naive, passed: 88, failed: 2 }), [
    "passed: 2 passed in the second look only",
    "failed: 2 passed in the second look only",
  ]);
  t.deepEqual(explanations(flaky, { ...naive, passed: 80, failed: 10 }), ["passed: null", "failed: null"]);
  t.is(explanations(infrastructureRecord(), naive)[0], "install_ok: not graded: sandbox_lost");
});

test("a sweep without a record yet has an empty table", (t) => {
  t.is(renderTable([]).split("\n").length, 1);
  t.is(renderTabSeparated([]).split("\n").length, 1);
});
