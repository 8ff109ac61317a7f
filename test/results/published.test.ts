import test from "ava";
import { loadPublished, parsePublished, publishedFor } from "../../results/published.ts";

test("the papers' tables load and hold the numbers that are known by heart", async (t) => {
  const papers = await loadPublished();
  t.deepEqual(
    papers.map(({ paper }) => paper.system),
    ["BootstrapAgent", "Graph2Env", "SetupX"],
  );
  const passRates = publishedFor(papers, "envbench-100").filter(({ table }) => table.includes("Figure 5"));
  t.deepEqual(
    passRates.slice(0, 4).map(({ row, value }) => [row, value]),
    [
      ["SetupX+XPU", 92],
      ["SetupX without XPU", 82],
      ["Claude Code", 73],
      ["ExecAgent", 59],
    ],
  );
  t.regex(passRates[2]?.derived ?? "", /92 − 19/);
  const graph2env = publishedFor(papers, "graph2env-200").find(
    ({ row, metric }) => row === "pipreqs" && metric === "essr",
  );
  t.like(graph2env, { paper: "Graph2Env", table: "Table 1", column: "ESSR", value: 11.6, unit: "percent" });
});

test("published tables agree with themselves where they print a sum or a share", async (t) => {
  const [bootstrap, graph2env] = await loadPublished();
  const table = (paper: typeof bootstrap, name: string) =>
    paper?.tables.find((each) => each.table === name)?.rows ?? [];
  const counts = table(bootstrap, "Table 1");
  const sum = (column: number) =>
    counts.slice(0, 3).reduce((total, { values }) => total + Number(values[column]), 0);
  t.deepEqual([sum(0), sum(1), sum(2)], counts[3]?.values.slice(0, 3) as number[]);
  for (const { values } of counts)
    t.true(
      Math.abs(((Number(values[1]) - Number(values[0])) / Number(values[2])) * 100 - Number(values[3])) <
        0.06,
    );
  for (const { values } of table(bootstrap, "Figure 9"))
    t.is(((Number(values[0]) / Number(values[1])) * 100).toFixed(1), Number(values[2]).toFixed(1));
  const full = table(bootstrap, "Table 4").at(-1);
  for (const [index, { values }] of table(bootstrap, "Table 4, drops").entries())
    for (const [column, drop] of values.entries())
      t.true(
        Math.abs(
          Number(full?.values[column]) -
            Number(table(bootstrap, "Table 4")[index]?.values[column]) -
            Number(drop),
        ) < 0.06,
      );
  const domains = table(graph2env, "Table 7");
  t.is(
    domains.slice(0, -1).reduce((total, { values }) => total + Number(values[0]), 0),
    200,
  );
});

test("numbers that measure something else are never set beside a suite's", async (t) => {
  const papers = await loadPublished();
  t.deepEqual(publishedFor(papers, "repo2run-122"), []);
  t.deepEqual(publishedFor(papers, "pypi-smoke"), []);
});

test("a table whose rows do not fit its columns is one clear line", (t) => {
  const paper = { paper: { system: "X", title: "x", reference: "x" }, tables: [] as unknown[] };
  const columns = [{ name: "EBSR", unit: "percent" }];
  paper.tables = [{ table: "Table 1", title: "x", columns, rows: [{ name: "a", values: [1, 2] }] }];
  t.throws(() => parsePublished(JSON.stringify(paper), "x.json"), {
    message: /^x\.json: tables\.0\.rows every row needs one value per column; see/,
  });
  t.throws(() => parsePublished("{", "x.json"), { message: /^x\.json: not JSON/ });
});
