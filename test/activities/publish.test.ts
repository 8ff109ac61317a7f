import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { publishRecord } from "../../activities/publish.ts";
import { claimAttempt, readRecord } from "../../activities/store/sweep-folder.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { writeSweepFolder } from "../../scripts/sweep/snapshot.ts";
import type { AttemptFacts } from "../../workflows/types.ts";
import { planOf } from "../support/plan.ts";

/** What is known of an attempt whose replay failed, as a run publishes it. */
const MEASURED = {
  arm: { id: "nop", system: "nop", model: null, options: {} },
  sandboxDriver: "local",
  snapshots: "layers",
  source: { digest: "0".repeat(64), revision: null, bytes: 1, notes: ["submodule sub left empty: gone"] },
  losses: [],
  left: [],
  setup: { steps: 0, claim: null, cause: null, detail: null, wallSeconds: 1, workingSeconds: 1 },
  artifact: { digest: "1".repeat(64), commands: 0 },
  replay: { exit: 1, seconds: 1, detail: "replay: exit code 1" },
  collection: null,
  tests: null,
  statics: { missing_imports: 3, pip_check: null, detail: "the environment has no pip" },
  failure: null,
};

test("a record tells what of the source is missing and which checks could not be made", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-publish-"));
  const suite = await loadSuite("pypi-smoke");
  const tasks = suite.suite.tasks.slice(0, 1);
  const [{ id = "" } = {}] = tasks;
  await writeSweepFolder(folder, planOf("local", id), suite, tasks);
  const facts: AttemptFacts = { ...MEASURED, folder, sweep: "s", cell: `${id}--nop`, attempt: 1, task: id };
  await claimAttempt(facts);
  t.like(await publishRecord(facts), { validity: "valid", ebsr: false });
  const record = await readRecord(facts);
  t.deepEqual(record?.notes, [
    "source: submodule sub left empty: gone",
    "static checks: the environment has no pip",
  ]);
  t.deepEqual(record?.static, { missing_imports: 3, pip_check: null });
  t.is(record?.detail, "replay: exit code 1");
  await rm(folder, { recursive: true });
});
