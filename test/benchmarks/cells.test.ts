import test from "ava";
import { cellsOf, lockDifferences } from "../../benchmarks/cells.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { planOf } from "../support/plan.ts";

const arm = (id: string) => ({ id, system: id, model: null, options: {} });

const { lock, ...rest } = planOf("local", "one");
const PLAN: SweepPlan = {
  ...rest,
  lock: { ...lock, tasks: ["one", "owner/two"], arms: [arm("nop"), arm("naive")], repeats: 2 },
};

test("cells are all (task, arm, repeat), arms of one task together, with ids fit for folders", (t) => {
  t.deepEqual(
    cellsOf(PLAN).map((cell) => cell.id),
    [
      "one--nop",
      "one--naive",
      "owner__two--nop",
      "owner__two--naive",
      "one--nop--2",
      "one--naive--2",
      "owner__two--nop--2",
      "owner__two--naive--2",
    ],
  );
});

test("equal locks do not differ", (t) => {
  t.deepEqual(lockDifferences(PLAN.lock, structuredClone(PLAN.lock)), []);
});

test("a changed, an added and a removed part of a lock are each named with both values", (t) => {
  const after = structuredClone(PLAN.lock);
  after.base.digest = "other";
  after.tasks = ["one"];
  after.arms.push(arm("oracle"));
  const differences = lockDifferences(PLAN.lock, after);
  t.true(differences.includes("base.digest: b → other"));
  t.true(differences.includes("tasks.1: owner/two → absent"));
  t.true(differences.includes("arms.2.id: absent → oracle"));
});
