import test from "ava";
import { loadPublished } from "../../results/published.ts";
import type { RunRecord } from "../../results/record.ts";
import { renderReport } from "../../results/report.ts";
import { buildSummary } from "../../results/summary.ts";
import { infrastructureRecord, recordOf } from "./record-fixture.ts";

const report = (
  records: RunRecord[],
  suite = "pypi-smoke",
  papers: Awaited<ReturnType<typeof loadPublished>> = [],
) => renderReport(buildSummary("s1", suite, records), records, papers);

test("free text of a hostile repository reaches the report only escaped", (t) => {
  const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>\u202e`;
  const hostile = { system: attack, arm: attack, area: attack, detail: attack, task: attack };
  const page = renderReport(buildSummary(attack, attack, [recordOf(hostile)]), [
    recordOf({
      ...hostile,
      cause: "tests_failed",
      tier: attack,
      harness: { version: attack, commit: attack },
    }),
  ]);
  t.false(/<script|<img|\u202e/.test(page));
  t.true(
    page.includes("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x onerror=alert(2)&gt;"),
  );
});

test("the report is one file: no script, nothing loaded from anywhere, the same bytes for the same records", (t) => {
  const page = report([recordOf(), infrastructureRecord()]);
  t.false(/<script|<link|@import|url\(|https?:|\ssrc=|\shref=|\son\w+=/i.test(page));
  t.true(page.includes("default-src 'none'"));
  t.true(page.includes("prefers-color-scheme: dark"));
  t.is(page, report([recordOf(), infrastructureRecord()]));
});

test("tags of the report are balanced", (t) => {
  const records = ["a", "b"].flatMap((task) => [
    recordOf({ task, detail: "fine" }),
    recordOf({ task, ebsr: false, cause: "artifact_failed", verdict: "guilty" }),
    infrastructureRecord({ task, system: "nop", tier: null }),
  ]);
  const open: string[] = [];
  const page = report(records, "graph2env-200").replace(/<style>[\s\S]*?<\/style>/, "");
  for (const [, end, tag = "", own] of page.matchAll(/<(\/?)([a-z0-9]+)[^>]*?(\/?)>/g)) {
    if (own === "/" || tag === "meta") continue;
    if (end === "/") t.is(open.pop(), tag);
    else open.push(tag);
  }
  t.deepEqual(open, []);
});

test("each run shows its outcome, cause and share in the matrix, and each cause is counted", (t) => {
  const page = report([
    recordOf({ task: "a", system: "naive" }),
    recordOf({ task: "b", system: "naive", cause: "tests_failed", essr: 0.4321 }),
    recordOf({ task: "c", system: "naive", cause: "collection_failed", ebsr: false, essr: 0 }),
    infrastructureRecord({ task: "d", system: "naive", detail: "the sandbox is gone" }),
  ]);
  t.regex(page, /outcome good">✓<\/span>/);
  t.regex(page, /outcome part">◐ 43\.2 % tests_failed/);
  t.regex(page, /outcome bad">✗ collection_failed/);
  t.regex(page, /outcome infra">! sandbox_lost<\/span><span class="detail">the sandbox is gone/);
  t.regex(page, /sandbox_lost<\/span><\/th><td>not the system&#39;s<\/td><td class="number">1</);
});

test("published numbers stand beside a suite that has some, with the place they are printed at", async (t) => {
  const papers = await loadPublished();
  const page = report([recordOf()], "graph2env-200", papers);
  const cell = (text: string) => `<td class="number">${text}</td>`;
  t.true(page.includes(`pipreqs</th>${cell("10.0")}${cell("11.6")}${cell("–")}<td>Graph2Env, Table 1</td>`));
  t.regex(
    report([recordOf()], "envbench-100", papers),
    /73\.0<\/td>.*SetupX, Section 6\.3 and Figure 5 .*92 − 19/,
  );
  t.false(report([recordOf()], "pypi-smoke", papers).includes("Published"));
});

test("what was not measured is a dash, and repeats are shown only where there are some", (t) => {
  const single = report([recordOf({ self_claim: null })]);
  t.regex(single, /<td class="rate"><span class="quiet">–<\/span><\/td>/);
  t.false(single.includes("pass@k, %"));
  t.true(report([recordOf(), recordOf()]).includes("pass@k, %"));
});
