import { percent } from "../format.ts";
import { byArm, byTask, compareText, passedOfCollected } from "../metrics.ts";
import type { RunRecord } from "../record.ts";
import { type Html, html } from "./html.ts";

const TIER_ORDER = ["low", "medium", "high"];

/** How a run ended, by symbol and word as well as by colour. */
const OUTCOMES = {
  good: { symbol: "✓", meaning: "built, every test that should pass passes" },
  part: { symbol: "◐", meaning: "built, but not everything passes (cause named)" },
  bad: { symbol: "✗", meaning: "not built (cause named)" },
  infra: { symbol: "!", meaning: "infrastructure failure: counts as failed, not the system's fault" },
};

/** Repositories × systems: each run's outcome, cause and share of tests passed, with its one-line detail. */
export function matrix(records: readonly RunRecord[]): Html {
  const arms = byArm(records).map((ofArm) => ({ first: ofArm[0], runs: byTask(ofArm) }));
  const tasks = [...byTask(records).values()].flatMap((runs) => runs.slice(0, 1)).sort(compareTasks);
  const key = Object.entries(OUTCOMES).map(
    ([name, { symbol, meaning }]) =>
      html`<span><span class="outcome ${name}">${symbol}</span> ${meaning}</span>`,
  );
  const heads = arms.map(({ first }) =>
    first?.arm === first?.system
      ? html`<th>${first?.system ?? ""}</th>`
      : html`<th>${first?.system ?? ""} <span class="quiet">${first?.arm ?? ""}</span></th>`,
  );
  const rows = tasks.map(
    ({
      task,
      tier,
    }) => html`<tr><th scope="row">${task} <span class="quiet">${tier ?? ""}</span></th>${arms.map(
      ({ runs }) => html`<td>${(runs.get(task) ?? []).map(outcome)}</td>`,
    )}</tr>
`,
  );
  return html`<div class="key">${key}</div>
<div class="scroll"><table class="matrix"><thead><tr><th>Repository</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function outcome(record: RunRecord): Html {
  const name = outcomeOf(record);
  const passed = record.essr ?? passedOfCollected(record);
  const partial = name !== "infra" && passed !== null && passed > 0 && passed < 1;
  const text = [OUTCOMES[name].symbol, partial ? `${percent(passed)} %` : [], record.cause ?? []]
    .flat()
    .join(" ");
  const detail = record.detail === null ? "" : html`<span class="detail">${record.detail}</span>`;
  return html`<span class="outcome ${name}">${text}</span>${detail}`;
}

function outcomeOf(record: RunRecord): keyof typeof OUTCOMES {
  if (record.validity === "infrastructure") return "infra";
  if (!record.ebsr) return "bad";
  return record.cause === null ? "good" : "part";
}

function compareTasks(a: RunRecord, b: RunRecord): number {
  const rank = ({ tier }: RunRecord) => (tier === null ? TIER_ORDER.length : TIER_ORDER.indexOf(tier));
  return rank(a) - rank(b) || compareText(a.task, b.task);
}
