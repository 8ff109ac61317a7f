import { stringify } from "csv-stringify/sync";
import type { Group } from "./metrics.ts";
import { groupSchema } from "./summary.ts";

export const GROUP_COLUMNS = Object.keys(groupSchema.shape) as (keyof Group)[];

/**
 * `summary.csv`: a header and one row per group, the names of `summary.json`; null is an empty field. Text that a
 * spreadsheet would run as a formula is escaped (system and arm names are free text).
 */
export function renderCsv(groups: readonly Group[]): string {
  return stringify([...groups], { header: true, columns: GROUP_COLUMNS, escape_formulas: true });
}
