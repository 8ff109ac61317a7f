import { mkdir } from "node:fs/promises";
import type {
  ArtifactRef,
  AttemptKey,
  Budget,
  CollectionResult,
  ReplayResult,
  SandboxRef,
  StaticResult,
  TestResult,
} from "../workflows/types.ts";
import { beating, openAttempt } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { CausedError } from "./errors.ts";
import { refuseFullDisk } from "./host-disk.ts";
import { runCommand } from "./sandbox/run-command.ts";
import { agentCommand } from "./setup/agent-command.ts";
import { attemptFolder } from "./store/sweep-folder.ts";
import { verifyCollection } from "./verify/collect.ts";
import type { VerifyContext } from "./verify/context.ts";
import { lastLine, shortDetail } from "./verify/session.ts";
import { verifyStatically } from "./verify/static-check.ts";
import { verifyTests } from "./verify/test.ts";

type Input = AttemptKey & { sandbox: SandboxRef };

const KEPT_ERROR = { head: 0, tail: 2_048 };

/** Stage 2 of metrics.md: the artifact, and nothing else of the agent's, runs in the fresh sandbox. */
export async function replayArtifact(
  deps: Deps,
  input: Input & { artifact: ArtifactRef; seconds: number },
): Promise<ReplayResult> {
  const { plan } = await openAttempt(input);
  const driver = deps.driver(plan);
  const script = (await deps.blobs.get(input.artifact.digest)).toString("utf8");
  const exec = agentCommand(plan, "replay", script, input.seconds);
  const ended = await runCommand(driver, input.sandbox, exec, beating());
  if (ended.exit !== 0) await refuseFullDisk(deps.stateFolder);
  if (ended.end === "lost") throw new CausedError("sandbox_lost", "the sandbox lost the replay");
  if (ended.end === "oom")
    throw new CausedError("sandbox_oom", "the replay ran into the sandbox's memory limit");
  if (ended.exit === 0) return { exit: 0, seconds: ended.seconds, detail: null };
  const { text } = await driver.read(input.sandbox, "replay", "stderr", KEPT_ERROR);
  const why = ended.end === "exited" ? `exit code ${ended.exit}` : `ended by its ${ended.end} limit`;
  const detail = shortDetail(`replay: ${why}: ${lastLine(text)}`);
  return { exit: ended.exit, seconds: ended.seconds, detail };
}

export async function collectTests(deps: Deps, input: Input & { budget: Budget }): Promise<CollectionResult> {
  const collection = await verifyCollection(await contextOf(deps, input), input.budget);
  if (!collection.ok) await refuseFullDisk(deps.stateFolder);
  return collection;
}

export async function runTests(deps: Deps, input: Input & { budget: Budget }): Promise<TestResult> {
  const { plan, suite, task } = await openAttempt(input);
  if (plan.lock.tests_network === "off") await deps.driver(plan).network(input.sandbox, "off");
  const ids = await suite.goldIds(task);
  const count = task.gold && "count" in task.gold ? { count: task.gold.count } : null;
  const gold = ids === null ? count : { ids };
  const tests = await verifyTests(await contextOf(deps, input), input.budget, gold);
  if (tests.failed + tests.errors > 0) await refuseFullDisk(deps.stateFolder);
  return tests;
}

export async function checkStatically(deps: Deps, input: Input): Promise<StaticResult> {
  return verifyStatically(await contextOf(deps, input));
}

async function contextOf(deps: Deps, input: Input): Promise<VerifyContext> {
  const { plan } = await openAttempt(input);
  const folder = attemptFolder(input);
  await mkdir(folder, { recursive: true });
  return {
    driver: deps.driver(plan),
    sandbox: input.sandbox,
    root: "main",
    blobs: deps.blobs,
    folder,
    prefix: "verify",
    interpreter: null,
    watch: beating(),
  };
}
