import { NOT_MEASURED } from "../format.ts";
import type { PublishedCell } from "../published.ts";
import { type Html, html } from "./html.ts";

/** Published numbers of one suite, a line per system and table they are printed in; nothing when there are none. */
export function publishedTable(cells: readonly PublishedCell[]): Html | "" {
  if (cells.length === 0) return "";
  const columns = [...new Set(cells.map(columnOf))];
  const lines = [
    ...Map.groupBy(cells, ({ paper, table, row }) => JSON.stringify([paper, table, row])).values(),
  ];
  const rows = lines
    .filter((line) => line.some(({ value }) => value !== null))
    .map((line) => rowOf(line, columns));
  return html`<h2>Published on these repositories</h2>
<p>As printed in the papers, under their own protocols; nothing above is filled in from here.</p>
<div class="scroll"><table><thead><tr><th>System</th>${columns.map(
    (column) => html`<th class="number">${column}</th>`,
  )}<th>Where</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function columnOf({ column, unit }: PublishedCell): string {
  return unit === "percent" ? `${column}, %` : column;
}

function rowOf(line: readonly PublishedCell[], columns: readonly string[]): Html {
  const [first] = line;
  const derived = line.find((cell) => cell.derived !== null)?.derived;
  const numbers = columns.map((column) => {
    const value = line.find((cell) => columnOf(cell) === column)?.value ?? NOT_MEASURED;
    return html`<td class="number">${typeof value === "number" ? value.toFixed(1) : value}</td>`;
  });
  const how = derived ? html` <span class="quiet">(${derived})</span>` : "";
  return html`<tr><th scope="row">${first?.row ?? ""}</th>${numbers}<td>${first?.paper ?? ""}, ${first?.table ?? ""}${how}</td></tr>
`;
}
