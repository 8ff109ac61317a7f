import test from "ava";
import fc from "fast-check";
import { suite as schema } from "../../benchmarks/schema.ts";
import { selectTasks } from "../../benchmarks/select-tasks.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";

const suite = schema.parse({
  suite: "some",
  title: "Some",
  source: "by hand",
  tasks: [
    ["Acme/Rocket", "low"],
    ["acme/core", "low"],
    ["other/core", "high"],
    ["flask", "high"],
    ["plain", null],
  ].map(([id, tier]) => ({ id, tier, source: { kind: "directory", path: "x" } })),
});
const ids = (tasks: { id: string }[]) => tasks.map(({ id }) => id);

test("Repositories are found by id or by the part after the slash, whatever their case", (t) => {
  t.deepEqual(ids(selectTasks(suite, { repos: ["FLASK", "rocket", "Other/Core"] })), [
    "Acme/Rocket",
    "other/core",
    "flask",
  ]);
});

test("An ambiguous short name lists the ids that it could mean", (t) => {
  const error = t.throws(() => selectTasks(suite, { repos: ["core"] }), { instanceOf: UsageError });
  t.regex(error.message, /ambiguous.*acme\/core, other\/core/);
});

test("An unknown repository lists the nearest ones", (t) => {
  const error = t.throws(() => selectTasks(suite, { repos: ["flaks"] }), { instanceOf: UsageError });
  t.regex(error.message, /unknown repository flaks in suite some; nearest: flask/);
});

test("An empty selection says why", (t) => {
  const message = (selected: Parameters<typeof selectTasks>[1]) =>
    t.throws(() => selectTasks(suite, selected), { instanceOf: UsageError }).message;
  t.regex(message({ tier: "medium" }), /no task of tier medium; it has low, high/);
  t.regex(message({ tier: "high", repos: ["rocket"] }), /none of the repositories named has the tier high/);
  t.regex(message({ repos: [] }), /no repository named/);
  t.regex(message({ limit: 0 }), /limit 0/);
});

test("Filters narrow in any combination, keep the suite's order and never repeat a task", (t) => {
  const names = ["rocket", "ACME/CORE", "other/core", "flask", "plain"];
  const selected = fc.record({
    repos: fc.option(fc.array(fc.constantFrom(...names), { minLength: 1 }), { nil: undefined }),
    tier: fc.option(fc.constantFrom("low", "high"), { nil: undefined }),
    limit: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(selected, (filter) => {
      let tasks: ReturnType<typeof selectTasks>;
      try {
        tasks = selectTasks(suite, filter);
      } catch (error) {
        return error instanceof UsageError && filter.repos !== undefined && filter.tier !== undefined;
      }
      const positions = tasks.map((task) => suite.tasks.indexOf(task));
      return (
        tasks.length > 0 &&
        tasks.length <= (filter.limit ?? 9) &&
        positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0)) &&
        tasks.every(({ tier }) => filter.tier === undefined || tier === filter.tier)
      );
    }),
  );
  t.pass();
});
