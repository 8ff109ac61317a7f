import { CAUSE_NAMES, CAUSES, type Cause } from "../causes.ts";
import { byArm } from "../metrics.ts";
import type { RunRecord } from "../record.ts";
import { type Html, html } from "./html.ts";

/** Causes × systems, the causes in the order of the table of causes, only those that occurred. */
export function causeTable(records: readonly RunRecord[]): Html {
  const arms = byArm(records);
  const seen = CAUSE_NAMES.filter((cause) => records.some((record) => record.cause === cause));
  if (seen.length === 0) return html`<p>No run failed.</p>`;
  const heads = arms.map(([first]) => {
    const arm = first?.arm === first?.system ? "" : html` <span class="quiet">${first?.arm ?? ""}</span>`;
    return html`<th class="number">${first?.system ?? ""}${arm}</th>`;
  });
  const counted = (ofArm: readonly RunRecord[], cause: Cause | null) =>
    ofArm.filter((record) => record.cause === cause).length;
  const cells = (cause: Cause | null) =>
    arms.map((ofArm) => html`<td class="number">${counted(ofArm, cause) || "·"}</td>`);
  const rows = seen.map(
    (
      cause,
    ) => html`<tr><th scope="row"><span class="outcome ${CAUSES[cause].agent ? "bad" : "infra"}">${cause}</span></th><td>${
      CAUSES[cause].agent ? "the system's" : "not the system's"
    }</td>${cells(cause)}</tr>
`,
  );
  return html`<div class="scroll"><table><thead><tr><th>Cause</th><th>Whose fault</th>${heads}</tr></thead>
<tbody>${rows}<tr><th scope="row">none</th><td></td>${cells(null)}</tr></tbody></table></div>`;
}
