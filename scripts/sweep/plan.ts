import { promptDigest } from "../../activities/model/role.ts";
import { checkMirrors } from "../../activities/source/mirrors.ts";
import { SYSTEMS, systemNamed } from "../../activities/systems/registry.ts";
import { type LoadedSuite, loadSuite } from "../../benchmarks/load.ts";
import type { Task } from "../../benchmarks/schema.ts";
import { selectTasks } from "../../benchmarks/select-tasks.ts";
import { type ArmPlan, type SweepPlan, sweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { SweepOptions } from "../cli/options.ts";
import { armsOf } from "./arms.ts";
import type { DriverPlan } from "./driver-plan.ts";
import { checkSweepId } from "./folder.ts";
import { type ResolvedKnowledge, resolveKnowledge } from "./knowledge.ts";
import { type OpenMatrix, withMatrix } from "./matrix.ts";
import { type ResolvedModels, resolveModels } from "./models.ts";
import { readScripts } from "./scripts.ts";

const DEFAULT_SYSTEMS = ["oracle", "nop", "naive"];

/** What is to be run, resolved from the command line; nothing has been written or started yet. */
export interface Wish {
  suite: LoadedSuite;
  tasks: Task[];
  arms: ArmPlan[];
  models: ResolvedModels;
  knowledge: ResolvedKnowledge;
  matrix: OpenMatrix | null;
  /** Of the system `script`: the text by task id, or by `*` for all. */
  scripts: Readonly<Record<string, string>> | null;
}

/** Checks the command line against the suite and the systems. Throws UsageError. */
export async function resolveWish(given: SweepOptions): Promise<Wish> {
  const { options, matrix } = await withMatrix(given);
  if (options.suite === undefined) {
    throw new UsageError(
      "no suite given; name one with --suite (see `pnpm bench suites`), or a file of yours",
    );
  }
  if (options.id !== undefined) checkSweepId(options.id);
  checkMirrors(options.mirror);
  refusePasswords(options);
  const suite = await loadSuite(options.suite);
  const tasks = selectTasks(suite.suite, options);
  const systems = options.system.length > 0 ? [...new Set(options.system)] : DEFAULT_SYSTEMS;
  for (const name of systems) {
    const system = systemNamed(name);
    if (system === undefined) {
      throw new UsageError(
        `--system ${name}: unknown; there are ${SYSTEMS.map((one) => one.name).join(", ")}`,
      );
    }
    const without = tasks.find((task) => system.needsOracle && task.oracle === null);
    if (without !== undefined) {
      throw new UsageError(
        `--system ${name}: suite ${suite.suite.suite} has no recipe for ${without.id}; leave ${name} out: --system ${systems.filter((one) => one !== name).join(",") || "nop,naive"}`,
      );
    }
  }
  if (systems.includes("script") !== (options.script !== undefined)) {
    throw new UsageError(
      options.script === undefined
        ? "--system script needs a script; they go together: --system script --script FILE|DIR"
        : "--script is for the system `script`; they go together: --system script --script FILE|DIR",
    );
  }
  const unpinned = tasks.find((task) => task.source.kind === "git" && task.source.revision === null);
  if (unpinned !== undefined) {
    throw new UsageError(
      `${suite.suite.suite}: ${unpinned.id} is pinned to no commit; leave it out with --repos`,
    );
  }
  const arms = armsOf(systems, options.model, options);
  const models = await resolveModels(options);
  const knowledge = await resolveKnowledge(options, arms, matrix?.bases ?? {});
  refuseUnknownPairs(matrix, arms);
  const scripts = options.script === undefined ? null : await readScripts(options.script, tasks);
  return { suite, tasks, arms, models, knowledge, matrix, scripts };
}

export interface Surroundings {
  base: { request: string; digest: string; location: string };
  environment: Record<string, string>;
  mounts: { source: string; target: string }[];
  driver: DriverPlan;
  arms: ArmPlan[];
  harness: { version: string; commit: string | null };
}

/** The plan of a new sweep, as `sweep.json` will hold it. */
export function makePlan(id: string, options: SweepOptions, wish: Wish, around: Surroundings): SweepPlan {
  return sweepPlan.parse({
    schema_version: 1,
    sweep: id,
    created_at: new Date().toISOString(),
    lock: {
      matrix: wish.matrix?.name ?? null,
      suite: wish.suite.suite.suite,
      suite_digest: wish.suite.digest,
      tasks: wish.tasks.map((task) => task.id),
      arms: around.arms,
      repeats: options.repeat,
      budget: {
        wall: options.wall,
        working: options.working,
        steps: options.steps,
        command: options.commandSeconds,
        replay: options.replaySeconds,
        collect: options.collectSeconds,
        tests: options.testsSeconds,
        test: options.testSeconds,
        tokens: options.runTokens ?? null,
        usd: options.runUsd ?? null,
      },
      limits: {
        memoryBytes: options.memory,
        processes: options.processes,
        diskBytes: options.disk,
        cpus: options.cpus,
        outputBytes: options.output,
      },
      driver: around.driver.driver,
      pods: around.driver.pods,
      base: { request: around.base.request, digest: around.base.digest },
      tests_network: options.testsNetwork,
      models: wish.models.plans,
      knowledge: wish.knowledge.locked,
      prompts: promptsOf(wish.arms),
      harness_version: around.harness.version,
    },
    settings: {
      parallel: options.parallel,
      harness_commit: around.harness.commit,
      base_location: around.base.location,
      engine: around.driver.engine,
      cluster: around.driver.cluster,
      environment: around.environment,
      mounts: around.mounts,
      mirrors: options.mirror,
      index: options.index ?? null,
      source_seconds: options.sourceSeconds,
      source_bytes: options.sourceSize,
      knowledge: wish.knowledge.locations,
      endpoints: wish.models.endpoints,
      model_cache: options.modelCache,
      compare: wish.matrix?.compare ?? [],
      spending: { usd: options.sweepUsd ?? null, tokens: options.sweepTokens ?? null },
    },
  } satisfies SweepPlan);
}

/** A name for a sweep that got none: its suite and the second it was asked for. */
export function freshId(suite: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return `${suite}-${stamp}`;
}

function promptsOf(arms: readonly ArmPlan[]): Record<string, string> {
  const roles = arms.flatMap(({ system }) => systemNamed(system)?.roles ?? []);
  return Object.fromEntries(roles.map((role) => [role.name, promptDigest(role)]));
}

function refuseUnknownPairs(matrix: OpenMatrix | null, arms: readonly ArmPlan[]): void {
  const ids = arms.map(({ id }) => id);
  const unknown = matrix?.compare.flat().find((id) => !ids.includes(id));
  if (unknown === undefined) return;
  throw new UsageError(
    `--matrix ${matrix?.name}: compare names ${unknown}, which is no arm of it; there are ${ids.join(", ")}`,
  );
}

/** Both are kept in sweep.json, and what is kept is shown. */
function refusePasswords({ index, mirror }: SweepOptions): void {
  const holdsPassword = (address: string) => /:\/\/[^/@\s]*:[^/@\s]*@/.test(address);
  const flag = index !== undefined && holdsPassword(index) ? "--index" : "--mirror";
  if (flag === "--index" || mirror.some(({ replace }) => holdsPassword(replace))) {
    throw new UsageError(
      `${flag}: the address holds a password, which would be kept in sweep.json; leave it out`,
    );
  }
}
