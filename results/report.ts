import { counted, NOT_MEASURED, percent } from "./format.ts";
import { byTask } from "./metrics.ts";
import { type PublishedPaper, publishedFor } from "./published.ts";
import type { RunRecord } from "./record.ts";
import { causeTable } from "./report/causes.ts";
import { type Html, html } from "./report/html.ts";
import { matrix } from "./report/matrix.ts";
import { publishedTable } from "./report/published-table.ts";
import { rateTable } from "./report/rates.ts";
import { STYLE } from "./report/style.ts";
import type { Summary } from "./summary.ts";

/**
 * `report.html`: one self-contained page without script, made from the summary, the records that count and the papers'
 * numbers. Same input, same bytes. All free text (task names, details) is hostile and escaped.
 */
export function renderReport(
  summary: Summary,
  records: readonly RunRecord[],
  papers: readonly PublishedPaper[] = [],
): string {
  const body = html`<h1>${summary.suite}</h1>
<p class="facts">Sweep ${summary.sweep} · ${facts(records)}</p>
<h2>Results</h2>
<p>Every rate is over all n runs and comes with its 95 % interval; infrastructure failures count as failed and are shown apart.</p>
${rateTable(summary.groups)}
${repeats(summary)}
${publishedTable(publishedFor(papers, summary.suite))}
<h2>Causes</h2>
<p>The one cause of each run: infrastructure first, then the first stage that failed.</p>
${causeTable(records)}
<h2>Repositories</h2>
${matrix(records)}
${HOW_TO_READ}`;
  const page = html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${summary.suite} · ${summary.sweep}</title><style>${{ markup: STYLE }}</style></head><body>
${body}
</body></html>
`;
  return `<!doctype html>\n${page.markup}`;
}

function facts(records: readonly RunRecord[]): string {
  const distinct = (values: string[]) => [...new Set(values)].sort().join(", ");
  return [
    counted(byTask(records).size, "repository", "repositories"),
    counted(records.length, "run"),
    `driver ${distinct(records.map(({ sandbox }) => sandbox.driver))}`,
    `base ${distinct(records.map(({ sandbox }) => sandbox.base_digest.slice(0, 12)))}`,
    `harness ${distinct(records.map(({ harness }) => [harness.version, harness.commit?.slice(0, 10) ?? []].flat().join(" ")))}`,
  ].join(" · ");
}

function repeats({ repeats }: Summary): Html | "" {
  if (repeats.length === 0) return "";
  const rows = repeats.map(
    (
      row,
    ) => html`<tr><th scope="row">${row.system} <span class="quiet">${row.arm}</span></th><td class="number">${
      row.k
    }</td><td class="number">${row.repositories}</td><td class="number">${percent(
      row.ebsr_pass_at_k,
    )}</td><td class="number">${percent(row.ebsr_pass_hat_k)}</td></tr>
`,
  );
  return html`<h2>Repeats</h2>
<p>Chance that of k runs of a repository at least one is built (pass@k), and that all are (pass^k).</p>
<div class="scroll"><table><thead><tr><th>System</th><th class="number">k</th><th class="number">Repositories</th><th class="number">pass@k, %</th><th class="number">pass^k, %</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

const HOW_TO_READ = html`<h2>How to read this</h2>
<dl>
<dt>EBSR</dt><dd>Environment Build Success Rate: share of runs whose artifact replays with exit 0 in a fresh sandbox and whose tests are then collected: collector ok, at least one test, no error.</dd>
<dt>ESSR</dt><dd>Environment Setup Success Rate: mean over repositories of the share of gold tests (known to pass in a right environment) that pass after clean replay. A run that is not built can still pass some.</dd>
<dt>Passed / collected</dt><dd>The same for repositories without gold tests: passed of collected tests. Never mixed with ESSR.</dd>
<dt>Pass rate</dt><dd>Share of runs that adjudication found not guilty. Guilty, timeout and never adjudicated fail.</dd>
<dt>Self-claim</dt><dd>Share of runs whose agent said that it was done. Its distance from the rates beside it is the gap.</dd>
<dt>95 % interval</dt><dd>Wilson for shares, with repeats clustered by repository; bootstrap over repositories for ESSR (Wilson where all repositories are equal). The whisker on each bar. Overlap of two intervals says little: compare two systems on the same repositories with the paired comparison.</dd>
<dt>Infrastructure</dt><dd>Runs that ended for a reason that is not the system's (sandbox lost, source vanished, model endpoint down …) after their retries.</dd>
<dt>Steps, time</dt><dd>Mean steps and median wall time of graded runs.</dd>
<dt>${NOT_MEASURED}</dt><dd>Not measured. Never 0.</dd>
</dl>`;
