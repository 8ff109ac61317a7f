import { type SweepPlan, sweepPlan } from "../../benchmarks/sweep-plan.ts";

/** The plan of a sweep `s` of one cell, `<task>--nop`. */
export function planOf(driver: SweepPlan["lock"]["driver"], task: string): SweepPlan {
  return sweepPlan.parse({
    schema_version: 1,
    sweep: "s",
    created_at: "2026-01-01T00:00:00Z",
    lock: {
      suite: "suite",
      suite_digest: "d",
      tasks: [task],
      arms: [{ id: "nop", system: "nop", model: null, options: {} }],
      repeats: 1,
      budget: {
        wall: 1,
        working: 1,
        steps: 1,
        command: 1,
        replay: 1,
        collect: 1,
        tests: 1,
        test: 1,
        tokens: null,
        usd: null,
      },
      limits: { memoryBytes: 1, processes: 1, diskBytes: 1, cpus: 1, outputBytes: 1 },
      driver,
      pods: driver === "kubernetes" ? { template: {}, user_namespaces: "auto", headroom: 2 } : null,
      base: { request: "debian", digest: "b" },
      tests_network: "off",
      models: {},
      prompts: {},
      harness_version: "0",
    },
    settings: {
      parallel: 1,
      harness_commit: null,
      base_location: "/",
      engine: null,
      cluster: null,
      environment: {},
      mounts: [],
      mirrors: [],
      index: null,
      source_seconds: 1,
      source_bytes: 1,
      endpoints: {},
      model_cache: false,
      spending: { usd: null, tokens: null },
    },
  });
}
