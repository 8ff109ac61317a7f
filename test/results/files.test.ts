import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { renderCsv } from "../../results/csv.ts";
import { summarise } from "../../results/metrics.ts";
import { parseRecords, readRecords, recordsThatCount, renderRecords } from "../../results/records.ts";
import { buildSummary, summarySchema } from "../../results/summary.ts";
import { writeResults } from "../../results/write-results.ts";
import { scratchFolder } from "../support/scratch.ts";
import { infrastructureRecord, recordOf } from "./record-fixture.ts";

const folder = () => scratchFolder("results-");

test("records survive writing and reading, blank lines are allowed", (t) => {
  const records = [recordOf({ task: "a" }), infrastructureRecord({ task: "b", detail: 'a "quoted"\nline' })];
  const text = renderRecords(records);
  t.is(text.trimEnd().split("\n").length, 2);
  t.deepEqual(parseRecords(`${text}\n\n`, "records.jsonl"), records);
});

test("a broken row is named by file, line and key, with a remedy", (t) => {
  const text = renderRecords([recordOf()]);
  t.throws(() => parseRecords(`${text}{"cell": `, "x/records.jsonl"), {
    message: /^x\/records\.jsonl:2: not JSON .*bench report/,
  });
  t.throws(() => parseRecords(text.replace('"steps":1', '"steps":-1'), "x/records.jsonl"), {
    message: /^x\/records\.jsonl:1: "steps" is wrong .*bench report/,
  });
  t.throws(() => parseRecords(text.replace('"schema_version":1', '"schema_version":9'), "r"), {
    message: /"schema_version"/,
  });
});

test("a file that is not there is one clear line", async (t) => {
  const file = join(await folder(), "records.jsonl");
  await t.throwsAsync(readRecords(file), {
    message: /records\.jsonl: ENOENT.*name a sweep that has started/,
  });
});

test("the highest attempt of a cell counts, in cell order, whatever order attempts came in", (t) => {
  const attempts = [
    recordOf({ cell: "b", attempt: 2, steps: 22 }),
    recordOf({ cell: "a", attempt: 1, steps: 11 }),
    recordOf({ cell: "b", attempt: 1, steps: 21 }),
    recordOf({ cell: "b", attempt: 10, steps: 210 }),
  ];
  const steps = (records: typeof attempts) => recordsThatCount(records).map((record) => record.steps);
  t.deepEqual(steps(attempts), [11, 210]);
  t.deepEqual(steps([...attempts].reverse()), [11, 210]);
});

test("the summary fits its schema and the CSV holds the same groups, null as an empty field", (t) => {
  const summary = buildSummary("s1", "pypi-smoke", [recordOf({ system: "=cmd()" }), infrastructureRecord()]);
  t.deepEqual(summarySchema.parse(JSON.parse(JSON.stringify(summary))), summary);
  const [header = "", ...rows] = renderCsv(summary.groups).trimEnd().split("\n");
  t.deepEqual(header.split(","), Object.keys(summary.groups[0] ?? {}));
  t.is(rows.length, summary.groups.length);
  t.true(rows[0]?.startsWith("'=cmd(),"));
  const costs = header.split(",").indexOf("cost_usd");
  t.is(rows[0]?.split(",")[costs], "");
});

test("the groups have exactly the documented fields and essr_collected", (t) => {
  const rates = ["ebsr", "essr", "essr_collected", "pass_rate", "self_claim"];
  const plain =
    "system arm tier n graded infrastructure steps_mean tokens_input tokens_output cost_usd wall_seconds_median working_seconds_median";
  t.deepEqual(
    Object.keys(summarise([recordOf()])[0] ?? {}).sort(),
    [...plain.split(" "), ...rates.flatMap((rate) => [rate, `${rate}_low`, `${rate}_high`])].sort(),
  );
});

test("writing results twice gives the same bytes, counts each cell once and leaves no temporary file", async (t) => {
  const out = await folder();
  const records = [
    recordOf({ cell: "c2", task: "b" }),
    infrastructureRecord({ cell: "c1", task: "a", attempt: 1 }),
    recordOf({ cell: "c1", task: "a", attempt: 2 }),
  ];
  const write = (given: typeof records) =>
    writeResults(out, { sweep: "s1", suite: "pypi-smoke", records: given });
  const read = async () =>
    Promise.all(
      (await readdir(out)).sort().map(async (file) => [file, await readFile(join(out, file), "utf8")]),
    );
  await writeFile(join(out, "summary.json"), "half a fi");
  const summary = await write(records);
  const first = await read();
  await write([...records].reverse());
  t.deepEqual(await read(), first);
  t.deepEqual(
    first.map(([file]) => file),
    ["records.jsonl", "report.html", "summary.csv", "summary.json"],
  );
  t.like(summary.groups[0], { n: 2, infrastructure: 0 });
  t.deepEqual(
    (await readRecords(join(out, "records.jsonl"))).map(({ cell, attempt }) => [cell, attempt]),
    [
      ["c1", 2],
      ["c2", 1],
    ],
  );
});

test("results of a sweep without a record are written all the same", async (t) => {
  const out = await folder();
  const summary = await writeResults(out, { sweep: "s1", suite: "pypi-smoke", records: [] });
  t.deepEqual(summary.groups, []);
  t.is(await readFile(join(out, "records.jsonl"), "utf8"), "");
  t.true((await readFile(join(out, "report.html"), "utf8")).includes("0 runs"));
});
