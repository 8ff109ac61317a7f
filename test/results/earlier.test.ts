import test from "ava";
import { sweepPlan } from "../../benchmarks/sweep-plan.ts";
import { runRecord } from "../../results/record.ts";
import { planOf } from "../support/plan.ts";
import { recordOf } from "./record-fixture.ts";

test("plans and records of the first version are still read", (t) => {
  const { lock, settings, ...plan } = planOf("local", "click");
  const { pods: _, ...lockOfFirst } = lock;
  const { cluster: __, ...settingsOfFirst } = settings;
  const parsed = sweepPlan.parse({ ...plan, lock: lockOfFirst, settings: settingsOfFirst });
  t.deepEqual([parsed.lock.pods, parsed.settings.cluster], [null, null]);
  const { notes, sandbox, ...record } = recordOf();
  const { losses, left, ...sandboxOfFirst } = sandbox;
  t.deepEqual([notes, losses, left], [[], [], []]);
  t.deepEqual(runRecord.parse({ ...record, sandbox: sandboxOfFirst }), { ...record, notes, sandbox });
});
