import type { Task } from "../benchmarks/schema.ts";
import { NOT_MEASURED, oneLine } from "./format.ts";
import { compareText } from "./metrics.ts";
import type { RunRecord } from "./record.ts";
import { renderTextTable, type TextOptions, type TextTable } from "./text-table.ts";

type Naive = NonNullable<Task["naive"]>;
type Value = boolean | number | null;

interface Difference {
  task: string;
  field: keyof Naive;
  recorded: Value;
  /** Null: not measured (an infrastructure failure). */
  fresh: Value;
  /** Why the two need not agree, where the record itself tells; null is a difference to look into. */
  explanation: string | null;
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
 * `install_ok` is the self-claim (naive claims success when each of its commands succeeded; the failed ones are not in
 * the artifact), `collect_ok` the collector's verdict. The recorded runs are plain `pytest`, which runs
 * nothing once a module can't be collected, where the verifier goes on: after a failed collection a fresh run therefore
 * counts as 0 passed, 0 failed and as many errors as modules that could not be collected.
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
  const fresh = record.validity === "infrastructure" ? null : freshResult(record);
  return FIELDS.filter((field) => fresh?.[field] !== naive[field]).map((field) => ({
    task,
    field,
    recorded: naive[field],
    fresh: fresh?.[field] ?? null,
    explanation: explain(field, naive, fresh, record),
  }));
}

function freshResult(record: RunRecord): Naive {
  const collected = record.collection?.ok ?? false;
  const tests = collected ? record.tests : null;
  return {
    install_ok: record.self_claim === true,
    collect_ok: collected,
    passed: tests?.passed ?? 0,
    failed: tests?.failed ?? 0,
    errors: (collected ? tests?.errors : record.collection?.errors) ?? 0,
  };
}

function explain(field: keyof Naive, naive: Naive, fresh: Naive | null, record: RunRecord): string | null {
  if (fresh === null) return `not graded: ${record.cause ?? "infrastructure"}`;
  if (field === "install_ok" || field === "collect_ok") return null;
  if (!naive.collect_ok && !fresh.collect_ok)
    return "collection failed in both; pytest may end before it counts its errors";
  const flaky = record.tests?.flaky ?? 0;
  if (flaky > 0 && Math.abs(fresh[field] - naive[field]) <= flaky)
    return `${flaky} passed in the second look only`;
  return null;
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
  const columns: TextTable["columns"] = [
    { name: "task", align: "left" },
    { name: "field", align: "left" },
    { name: "recorded", align: "right" },
    { name: "fresh", align: "right" },
    { name: "explanation", align: "left" },
  ];
  const rows = differences.map(({ task, field, recorded, fresh, explanation }) => [
    { text: oneLine(task) },
    { text: field },
    show(recorded),
    show(fresh),
    { text: explanation ?? "" },
  ]);
  return renderTextTable({ columns, rows }, options);
}
