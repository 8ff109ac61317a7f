import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApplicationFailure } from "@temporalio/activity";
import test from "ava";
import { claimHost } from "../../activities/claim-host.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { writeSweepFolder } from "../../scripts/sweep/snapshot.ts";
import { KUBERNETES_HOST } from "../../workflows/policies.ts";
import { planOf } from "../support/plan.ts";

async function claim(driver: SweepPlan["lock"]["driver"], holdsSandboxes: boolean) {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-claim-"));
  try {
    const suite = await loadSuite("pypi-smoke");
    const tasks = suite.suite.tasks.slice(0, 1);
    const [{ id = "" } = {}] = tasks;
    await writeSweepFolder(folder, planOf(driver, id), suite, tasks);
    const key = { folder, sweep: "s", cell: `${id}--nop`, attempt: 1 };
    const claimed = await claimHost({ host: "this-machine" }, key, holdsSandboxes).catch((error) => error);
    return { claimed, isClaimed: (await readdir(folder)).includes("runs") };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("a worker that holds sandboxes claims local attempts for its machine", async (t) => {
  t.deepEqual(await claim("local", true), { claimed: { host: "this-machine" }, isClaimed: true });
  t.deepEqual(await claim("docker", true), { claimed: { host: "this-machine" }, isClaimed: true });
});

test("any worker claims a cluster's attempts, for all that reach the cluster", async (t) => {
  for (const holds of [true, false]) {
    t.deepEqual(await claim("kubernetes", holds), { claimed: { host: KUBERNETES_HOST }, isClaimed: true });
  }
});

test("a worker without a host's queue leaves local attempts to another one", async (t) => {
  const { claimed, isClaimed } = await claim("local", false);
  t.false(isClaimed);
  t.true(claimed instanceof ApplicationFailure);
  t.false(claimed.nonRetryable);
  t.regex(claimed.message, /no worker that holds local sandboxes .*--queues general,host/);
});
