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

function plan(driver: SweepPlan["lock"]["driver"], task: string): SweepPlan {
  return {
    schema_version: 1,
    sweep: "s",
    created_at: "2026-01-01T00:00:00Z",
    lock: {
      suite: "suite",
      suite_digest: "d",
      tasks: [task],
      arms: [{ id: "nop", system: "nop", model: null, options: {} }],
      repeats: 1,
      budget: { wall: 1, working: 1, steps: 1, command: 1, replay: 1, collect: 1, tests: 1, test: 1 },
      limits: { memoryBytes: 1, processes: 1, diskBytes: 1, cpus: 1, outputBytes: 1 },
      driver,
      pods: driver === "kubernetes" ? { template: {}, user_namespaces: "auto", headroom: 2 } : null,
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
}

async function claim(driver: SweepPlan["lock"]["driver"], holdsSandboxes: boolean) {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-claim-"));
  try {
    const suite = await loadSuite("pypi-smoke");
    const tasks = suite.suite.tasks.slice(0, 1);
    const [{ id = "" } = {}] = tasks;
    await writeSweepFolder(folder, plan(driver, id), suite, tasks);
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
