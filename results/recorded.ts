import type { Task } from "../benchmarks/schema.ts";
import { NOT_MEASURED, oneLine } from "./format.ts";
import { compareText } from "./metrics.ts";
import type { RunRecord } from "./record.ts";
import { renderTextTable, type TextOptions } from "./text-table.ts";

type Naive = NonNullable<Task["naive"]>;
type Value = boolean | number | null;

export interface Difference {
  task: string;
  field: keyof Naive;
  recorded: Value;
  /** Null: not measured (an infrastructure failure). */
  fresh: Value;
}

export interface RecordedComparison {
  /** Tasks with a recorded result and a fresh one. */
  compared: number;
  /** Tasks that agree in every field. */
  agreeing: string[];
  differences: Difference[];
  /** Agreements per field, of `compared`. */
  agreements: Record<keyof Naive, number>;
  /** Tasks with a recorded result that no record answers. */
  missing: string[];
}

const FIELDS = ["install_ok", "collect_ok", "passed", "failed", "errors"] as const satisfies (keyof Naive)[];

/**
 * Compares the records of a naive set-up with the results that the suite recorded for it, field by field.
 * `install_ok` is replay exit 0, `collect_ok` the collector's exit; `errors` are errors of tests where the recorded
 * collection succeeded, else errors of collection. A run that was not reached has passed and failed nothing.
 * Give the records of one arm; with repeats the first record of a task is compared.
 */
export function compareWithRecorded(
  records: readonly RunRecord[],
  tasks: readonly Pick<Task, "id" | "naive">[],
): RecordedComparison {
  const byId = new Map([...records].reverse().map((record) => [record.task, record]));
  const pairs = tasks.flatMap(({ id, naive }) => {
    const record = byId.get(id);
    return naive === null || record === undefined ? [] : [{ id, naive, record }];
  });
  const differences = pairs.flatMap(({ id, naive, record }) => differencesOf(id, naive, record));
  const differing = new Set(differences.map(({ task }) => task));
  const agreeingOn = (field: keyof Naive) =>
    pairs.length - differences.filter((difference) => difference.field === field).length;
  return {
    compared: pairs.length,
    agreeing: pairs.map(({ id }) => id).filter((id) => !differing.has(id)),
    differences,
    agreements: Object.fromEntries(FIELDS.map((field) => [field, agreeingOn(field)])) as Record<
      keyof Naive,
      number
    >,
    missing: tasks
      .filter(({ id, naive }) => naive !== null && !byId.has(id))
      .map(({ id }) => id)
      .sort(compareText),
  };
}

function differencesOf(task: string, naive: Naive, record: RunRecord): Difference[] {
  const fresh = freshResult(record, naive);
  return FIELDS.flatMap((field) =>
    fresh?.[field] === naive[field]
      ? []
      : [{ task, field, recorded: naive[field], fresh: fresh?.[field] ?? null }],
  );
}

function freshResult(record: RunRecord, naive: Naive): Naive | null {
  if (record.validity === "infrastructure") return null;
  return {
    install_ok: record.replay?.exit === 0,
    collect_ok: record.collection?.ok ?? false,
    passed: record.tests?.passed ?? 0,
    failed: record.tests?.failed ?? 0,
    errors: (naive.collect_ok ? record.tests?.errors : record.collection?.errors) ?? 0,
  };
}

/** The comparison for people: a sentence, then one line per difference. */
export function renderRecordedComparison(comparison: RecordedComparison, options: TextOptions = {}): string {
  const { compared, agreeing, differences, agreements, missing } = comparison;
  const perField = FIELDS.map((field) => `${field} ${agreements[field]}`).join(", ");
  const lines = [
    `${agreeing.length} of ${compared} tasks agree with the recorded result in every field (${perField}).`,
  ];
  if (missing.length > 0) lines.push(`Not run: ${missing.map(oneLine).join(", ")}.`);
  if (differences.length > 0) lines.push("", differenceTable(differences, options));
  return lines.join("\n");
}

function differenceTable(differences: readonly Difference[], options: TextOptions): string {
  const show = (value: Value) => ({ text: value === null ? NOT_MEASURED : String(value) });
  return renderTextTable(
    {
      columns: [
        { name: "task", align: "left" },
        { name: "field", align: "left" },
        { name: "recorded", align: "right" },
        { name: "fresh", align: "right" },
      ],
      rows: differences.map(({ task, field, recorded, fresh }) => [
        { text: oneLine(task) },
        { text: field },
        show(recorded),
        show(fresh),
      ]),
    },
    options,
  );
}
