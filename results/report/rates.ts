import { amount, duration, NOT_MEASURED, percent, percentRange } from "../format.ts";
import type { Group } from "../metrics.ts";
import { type Html, html } from "./html.ts";

type RateName = "ebsr" | "essr" | "essr_collected" | "pass_rate" | "self_claim";

const RATES: { rate: RateName; name: string; always: boolean }[] = [
  { rate: "ebsr", name: "EBSR", always: true },
  { rate: "essr", name: "ESSR", always: true },
  { rate: "essr_collected", name: "Passed / collected", always: false },
  { rate: "pass_rate", name: "Pass rate", always: false },
  { rate: "self_claim", name: "Self-claim", always: true },
];

/** The groups as a table: each rate as a number, its interval and a bar with the interval as a whisker. */
export function rateTable(groups: readonly Group[]): Html {
  const rates = RATES.filter(({ rate, always }) => always || groups.some((group) => group[rate] !== null));
  const tokens = groups.some((group) => group.tokens_input !== null);
  const tokenHead = html`<th class="number">Tokens in / out</th><th class="number">Cost, USD</th>`;
  return html`<div class="scroll"><table><thead><tr><th>System</th><th class="number">n</th><th class="number">Infra</th>${rates.map(
    ({ name }) => html`<th>${name}, %</th>`,
  )}<th class="number">Steps</th>${tokens ? tokenHead : ""}<th class="number">Median time</th></tr></thead>
<tbody>${groups.map((group) => groupRow(group, rates, tokens))}</tbody></table></div>`;
}

function groupRow(group: Group, rates: typeof RATES, tokens: boolean): Html {
  const all = group.tier === "all";
  const arm = group.arm === group.system ? "" : html` <span class="quiet">${group.arm}</span>`;
  const name = all ? html`${group.system}${arm}` : html`${group.tier}`;
  const used =
    group.tokens_input === null
      ? NOT_MEASURED
      : `${amount(group.tokens_input)} / ${amount(group.tokens_output)}`;
  const cost = group.cost_usd === null ? NOT_MEASURED : group.cost_usd.toFixed(2);
  const tokenCells = html`<td class="number">${used}</td><td class="number">${cost}</td>`;
  const infrastructure =
    group.infrastructure > 0 ? html`<span class="outcome infra">${group.infrastructure}</span>` : "0";
  return html`<tr class="${all ? "all" : "tier"}"><th scope="row">${name}</th><td class="number">${group.n}</td><td class="number">${infrastructure}</td>${rates.map(
    ({ rate }) => rateCell(group, rate),
  )}<td class="number">${amount(group.steps_mean)}</td>${tokens ? tokenCells : ""}<td class="number">${duration(
    group.wall_seconds_median,
  )}</td></tr>
`;
}

function rateCell(group: Group, rate: RateName): Html {
  const [value, low, high] = [group[rate], group[`${rate}_low`], group[`${rate}_high`]];
  if (value === null) return html`<td class="rate"><span class="quiet">${NOT_MEASURED}</span></td>`;
  const range = percentRange(value, low, high);
  return html`<td class="rate"><span class="value">${percent(value)}</span> <span class="range">${range}</span>${bar(value, low, high)}</td>`;
}

/** A bar over 0–100 % with the interval as a whisker with ends. */
function bar(value: number, low: number | null, high: number | null): Html {
  const at = (fraction: number | null) => (1 + (fraction ?? 0) * 198).toFixed(1);
  const whisker =
    low === null || high === null
      ? ""
      : html`<path class="whisker" d="M${at(low)} 4.5H${at(high)}M${at(low)} 1.5V7.5M${at(high)} 1.5V7.5"/>`;
  return html`<svg viewBox="0 0 200 9" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="200" height="9" rx="2"/><rect class="fill" width="${(
    value * 200
  ).toFixed(1)}" height="9" rx="2"/>${whisker}</svg>`;
}
