import test from "ava";
import { cellsOf, lockDifferences } from "../../benchmarks/cells.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";

const arm = (id: string) => ({ id, system: id, model: null, options: {} });

const PLAN: SweepPlan = {
  schema_version: 1,
  sweep: "s",
  created_at: "2026-01-01T00:00:00Z",
  lock: {
    suite: "suite",
    suite_digest: "d",
    tasks: ["one", "owner/two"],
    arms: [arm("nop"), arm("naive")],
    repeats: 2,
    budget: { wall: 1, working: 1, steps: 1, command: 1, replay: 1, collect: 1, tests: 1, test: 1 },
    limits: { memoryBytes: 1, processes: 1, diskBytes: 1, cpus: 1, outputBytes: 1 },
    driver: "local",
    pods: null,
    base: { request: "debian", digest: "b" },
    tests_network: "off",
    harness_version: "0",
  },
  settings: {
    parallel: 1,
    harness_commit: null,
    base_location: "/",
    cluster: null,
    environment: {},
    mounts: [],
    mirrors: [],
    index: null,
    source_seconds: 1,
    source_bytes: 1,
  },
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
