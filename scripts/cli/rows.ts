/** Rows as aligned columns on a terminal, tab-separated with a header line elsewhere, or as a JSON array. */
export function printRows(rows: readonly Record<string, string | number | null>[], json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "–")))];
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = process.stdout.isTTY
    ? (row: string[]) =>
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()
    : (row: string[]) => row.join("\t");
  for (const row of cells) process.stdout.write(`${line(row)}\n`);
}
