import { join } from "node:path";
import { writeFileAtomically } from "./atomic-file.ts";
import { renderCsv } from "./csv.ts";
import { loadPublished } from "./published.ts";
import type { RunRecord } from "./record.ts";
import { recordsThatCount, renderRecords } from "./records.ts";
import { renderReport } from "./report.ts";
import { buildSummary, type Summary } from "./summary.ts";

/**
 * Writes `records.jsonl`, `summary.json`, `summary.csv` and `report.html` into a sweep's folder, each atomically, from
 * all attempts' records (any order). Running it again with the same records writes the same bytes.
 */
export async function writeResults(
  folder: string,
  { sweep, suite, records }: { sweep: string; suite: string; records: readonly RunRecord[] },
): Promise<Summary> {
  const counted = recordsThatCount(records);
  const summary = buildSummary(sweep, suite, counted);
  const published = await loadPublished();
  await writeFileAtomically(join(folder, "records.jsonl"), renderRecords(counted));
  await writeFileAtomically(join(folder, "summary.json"), `${JSON.stringify(summary, null, 2)}\n`);
  await writeFileAtomically(join(folder, "summary.csv"), renderCsv(summary.groups));
  await writeFileAtomically(join(folder, "report.html"), renderReport(summary, counted, published));
  return summary;
}
