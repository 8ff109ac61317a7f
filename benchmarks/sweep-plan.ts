import { z } from "zod";
import { endpointPlan, modelPlan, spendingLimit } from "./model-plan.ts";

const count = z.int().positive();
const seconds = z.number().positive();

const armPlan = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9._+-]*$/),
  system: z.string(),
  model: z.string().nullable(),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

/** Seconds, except `steps`, `tokens` and `usd`. See workflows/types.ts for each field. */
const budgetPlan = z.strictObject({
  wall: seconds,
  working: seconds,
  steps: count,
  command: seconds,
  replay: seconds,
  collect: seconds,
  tests: seconds,
  test: seconds,
  /** Tokens and US dollars of the calls of one attempt; null: no limit. */
  tokens: count.nullable(),
  usd: z.number().positive().nullable(),
});

const limitsPlan = z.strictObject({
  memoryBytes: count,
  processes: count,
  diskBytes: count,
  cpus: z.number().positive(),
  outputBytes: count,
});

/** A sweep's name is a folder's name and a workflow's id. */
export const SWEEP_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,80}$/;

const mirrorRule = z.strictObject({ match: z.string(), replace: z.string() });

/**
 * `sweep.json`: everything that decides a sweep's results, resolved. The tasks lie beside it in `suite.json`.
 * What is under `lock` may not change when a sweep is resumed; `settings` may.
 */
export const sweepPlan = z.strictObject({
  schema_version: z.literal(1),
  sweep: z.string().regex(SWEEP_ID),
  created_at: z.string(),
  lock: z.strictObject({
    /** Name of the matrix that says the arms; a sweep of one may get more arms later. */
    matrix: z.string().nullable(),
    suite: z.string(),
    suite_digest: z.string(),
    tasks: z.array(z.string()).min(1),
    arms: z.array(armPlan).min(1),
    repeats: count,
    budget: budgetPlan,
    limits: limitsPlan,
    driver: z.enum(["local", "docker", "kubernetes"]),
    /** How the cluster's pods are made; null for other drivers. `template` is merged into every pod. */
    pods: z
      .strictObject({
        template: z.record(z.string(), z.unknown()),
        user_namespaces: z.enum(["auto", "required", "off"]),
        /** Memory and CPU requests are the limits divided by this. */
        headroom: z.number().min(1),
      })
      .nullable(),
    base: z.strictObject({ request: z.string(), digest: z.string() }),
    tests_network: z.enum(["on", "off"]),
    /** By the name in `arms`. */
    models: z.record(z.string(), modelPlan),
    /** Knowledge bases, by the name that arms use. `digest`: null when runs teach it. */
    knowledge: z.record(z.string(), z.strictObject({ digest: z.string().nullable(), embedding: z.string() })),
    /** Digests of the prompts that the arms' roles are given, by role. */
    prompts: z.record(z.string(), z.string()),
    harness_version: z.string(),
  }),
  settings: z.strictObject({
    parallel: count,
    harness_commit: z.string().nullable(),
    /** Where this machine keeps the base named in the lock. */
    base_location: z.string(),
    /** Address of the container engine, as in DOCKER_HOST; null for other drivers. */
    engine: z.string().nullable(),
    /** Which cluster; null for other drivers. Null fields: as the kubeconfig has it. */
    cluster: z
      .strictObject({
        kubeconfig: z.string().nullable(),
        context: z.string().nullable(),
        namespace: z.string().nullable(),
        /** How long a pod may wait for room. */
        capacity_seconds: seconds,
        /** Pods kept ready ahead of need. */
        warm_pods: z.int().nonnegative(),
        /** Networks that sandboxes must not reach, besides link-local and their node. */
        unreachable: z.array(z.string()),
      })
      .nullable(),
    environment: z.record(z.string(), z.string()),
    mounts: z.array(z.strictObject({ source: z.string(), target: z.string() })),
    mirrors: z.array(mirrorRule),
    index: z.string().nullable(),
    source_seconds: seconds,
    source_bytes: count,
    /** Where the lock's knowledge bases are: as openBase takes it. */
    knowledge: z.record(z.string(), z.string()),
    /** One for each of the lock's models. */
    endpoints: z.record(z.string(), endpointPlan),
    /** Whether equal requests are answered from the state folder. */
    model_cache: z.boolean(),
    /** Pairs of arms that are compared at the end. */
    compare: z.array(z.tuple([z.string(), z.string()])),
    /** Of the whole sweep. */
    spending: spendingLimit,
  }),
});

export type ArmPlan = z.infer<typeof armPlan>;
export type SweepPlan = z.infer<typeof sweepPlan>;
