import {
  defineQuery,
  proxyActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import { CAUSES } from "../results/causes.ts";
import type { GeneralActivities, HostActivities } from "./activities.ts";
import { failureOf } from "./failures.ts";
import type { Action, Move, Observation } from "./moves.ts";
import { asking, attemptPause, FREEZE_SECONDS, general, onHost } from "./policies.ts";
import { type LiveSandbox, type Sandboxes, withSandbox } from "./sandboxes.ts";
import { verdictAttribute } from "./search-attributes.ts";
import { stopwatch } from "./stopwatch.ts";
import { LOOPS } from "./systems/registry.ts";
import type {
  ArtifactRef,
  AttemptFacts,
  AttemptKey,
  RunInput,
  RunOutcome,
  SandboxRef,
  SetupOutcome,
} from "./types.ts";
import { nothingFound, verify } from "./verification.ts";

export interface Stage {
  attempt: number;
  stage: string;
  step: number;
  /** Milliseconds since the epoch. */
  since: number;
}

const stageQuery = defineQuery<Stage>("stage");

const anywhere = proxyActivities<GeneralActivities>(general);
const atModels = proxyActivities<GeneralActivities>(asking);

/** One cell: attempts until one counts or the cause's retry budget is spent. Each attempt leaves its own record. */
export async function run(input: RunInput): Promise<RunOutcome> {
  const stage: Stage = { attempt: 0, stage: "waiting", step: 0, since: Date.now() };
  setHandler(stageQuery, () => stage);
  const tries: Partial<Record<string, number>> = {};
  for (let attempt = input.attemptsBefore + 1; ; attempt++) {
    Object.assign(stage, { attempt, step: 0 });
    const { outcome, retryable } = await makeAttempt(input, attempt, (name, step = 0) => {
      Object.assign(stage, { stage: name, step, since: Date.now() });
    });
    upsertSearchAttributes(verdictAttribute(outcome));
    if (outcome.validity === "valid" || outcome.cause === null || !retryable) return outcome;
    const used = tries[outcome.cause] ?? 0;
    if (used >= CAUSES[outcome.cause].retries) return outcome;
    tries[outcome.cause] = used + 1;
    Object.assign(stage, { stage: `retrying after ${outcome.cause}`, since: Date.now() });
    await sleep(attemptPause(used + 2) * 1_000);
  }
}

type OnStage = (stage: string, step?: number) => void;

async function makeAttempt(
  input: RunInput,
  attempt: number,
  onStage: OnStage,
): Promise<{ outcome: RunOutcome; retryable: boolean }> {
  const key: AttemptKey = { folder: input.folder, sweep: input.sweep, cell: input.cell, attempt };
  const facts: AttemptFacts = {
    ...key,
    task: input.task,
    arm: input.arm,
    sandboxDriver: null,
    snapshots: null,
    source: null,
    losses: [],
    left: [],
    setup: null,
    artifact: null,
    replay: null,
    collection: null,
    tests: null,
    statics: null,
    failure: null,
  };
  const found = nothingFound();
  try {
    onStage("host");
    const { host } = await anywhere.claimHost(key);
    const sandboxes: Sandboxes = { key, host, losses: facts.losses, left: facts.left };
    const artifact = await setUp(input, sandboxes, facts, onStage);
    onStage("fresh sandbox");
    await verify(
      { key, language: input.language, artifact, budget: input.budget },
      sandboxes,
      found,
      onStage,
    );
  } catch (error) {
    facts.failure = failureOf(error);
  }
  const { sandbox, ...measured } = found;
  Object.assign(facts, measured, sandbox ? { sandboxDriver: sandbox.driver } : {});
  onStage("record");
  return { outcome: await anywhere.publishRecord(facts), retryable: facts.failure !== null };
}

/** Stage 1: the system works in a live sandbox; whatever it leaves, finished or not, becomes the artifact. */
async function setUp(
  input: RunInput,
  sandboxes: Sandboxes,
  facts: AttemptFacts,
  onStage: OnStage,
): Promise<ArtifactRef> {
  const { key, host } = sandboxes;
  const { wall } = input.budget;
  onStage("sandbox");
  const rebuild = (sandbox: SandboxRef) => {
    onStage("rebuilding the lost sandbox");
    return proxyActivities<HostActivities>(onHost(host, wall)).rebuildSandbox({
      ...key,
      sandbox,
      seconds: wall,
    });
  };
  return withSandbox(sandboxes, "setup", rebuild, async (live) => {
    const { sandbox, source, snapshots } = live.opened;
    Object.assign(facts, { source, snapshots, sandboxDriver: sandbox.driver });
    facts.setup = await runSystem(input, sandboxes, live, onStage);
    facts.artifact = await proxyActivities<HostActivities>(onHost(host, FREEZE_SECONDS)).freezeArtifact(key);
    return facts.artifact;
  });
}

async function runSystem(
  input: RunInput,
  { key, host }: Sandboxes,
  live: LiveSandbox,
  onStage: OnStage,
): Promise<SetupOutcome> {
  const loop = LOOPS[input.arm.system];
  if (loop === undefined) throw new Error(`no loop for the system ${input.arm.system}`);
  const { budget } = input;
  const watch = stopwatch(() => Date.now());
  const secondsLeft = () => budget.wall - watch.wallSeconds();
  const outcome = await loop({
    key,
    arm: input.arm,
    budget,
    decide: (step: number, part = 0, about = "setup") =>
      watch.time(
        () => (input.arm.model === null ? anywhere : atModels).decide({ ...key, step, part, about }),
        ({ modelSeconds }: Action) => modelSeconds ?? null,
      ),
    act: (step: number, move: Move, part = 0) => {
      const asked = move.kind === "command" ? move.seconds : null;
      const seconds = Math.max(1, Math.min(asked ?? budget.command, budget.command, secondsLeft()));
      return watch.time(
        () =>
          live.use((sandbox) =>
            proxyActivities<HostActivities>(onHost(host, seconds)).act({
              ...{ ...key, step, part },
              ...{ sandbox, move, seconds },
            }),
          ),
        (observation: Observation) => observation.seconds,
      );
    },
    secondsLeft,
    secondsWorked: () => watch.workingSeconds(),
    onStep: (step: number) => onStage("setup", step),
  });
  return { ...outcome, wallSeconds: watch.wallSeconds(), workingSeconds: watch.workingSeconds() };
}
