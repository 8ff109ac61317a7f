import { cancellationSignal } from "@temporalio/activity";
import { CAUSES } from "../results/causes.ts";
import type { Action, AgentCause, StepKey } from "../workflows/moves.ts";
import { type OpenAttempt, openAttempt, whileBeating } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { CausedError } from "./errors.ts";
import { openKnowledge } from "./knowledge/for-sweep.ts";
import { OverflowError, type Policy, runRole } from "./model/run-role.ts";
import { renderValues, type Values } from "./setup/values.ts";
import type { BlobStore } from "./store/blobs.ts";
import { notesOf } from "./store/notes.ts";
import { readTrajectory, type Step } from "./store/trajectory.ts";
import { systemNamed } from "./systems/registry.ts";
import type { CandidatePlan, DecideContext, Decision, System } from "./systems/system.ts";

type Input = StepKey & { about: string };

/**
 * The system's next action. It depends only on the trajectory, on the journal of calls and on what the system noted, so
 * a repeated call decides the same.
 */
export async function decide(deps: Deps, input: Input): Promise<Action> {
  const attempt = await openAttempt(input);
  const { model } = attempt.arm;
  if (model === null) return decideBy(deps, attempt, input, { kind: "rules" });
  let modelSeconds = 0;
  const onCall = ({ seconds }: { seconds: number }) => {
    modelSeconds += seconds;
  };
  const policy = modelPolicy(deps, attempt, model, input, onCall);
  const action = await whileBeating(() => decideBy(deps, attempt, input, policy));
  return { ...action, modelSeconds };
}

async function decideBy(
  deps: Deps,
  { plan, suite, task, arm }: OpenAttempt,
  input: Input,
  policy: Policy,
): Promise<Action> {
  const system = systemNamed(arm.system);
  if (system === undefined) throw new Error(`no system named ${arm.system}`);
  const { step, part, about } = input;
  const decision = await decideOrEnd(system, {
    ...{ task, step, part, about },
    run: `${input.sweep}/${input.cell}/${input.attempt}`,
    options: arm.options,
    trajectory: (await readTrajectory(input)).filter((other) => isBefore(other, input)),
    maxSteps: plan.lock.budget.steps,
    notes: notesOf(input),
    ask: (role, asked) => runRole(role, asked, policy),
    knowledge: (name) => openKnowledge(plan, suite.suite.tasks, name, deps.stateFolder),
    readBlob: async (digest) => (await deps.blobs.get(digest)).toString("utf8"),
  });
  return actionOf(decision, deps.blobs);
}

function isBefore(other: Step, { step, part }: StepKey): boolean {
  return other.step < step || (other.step === step && other.part < part);
}

/** A decision as it travels through workflow history, where nothing may be large. */
async function actionOf(decision: Decision, blobs: BlobStore): Promise<Action> {
  switch (decision.kind) {
    case "command":
      return {
        kind: "command",
        script: await blobs.put(decision.command),
        seconds: decision.seconds ?? null,
      };
    case "environment":
      return { kind: "environment", values: await blobs.put(renderValues(decision.values)) };
    case "try":
      return {
        kind: "try",
        candidates: await Promise.all(decision.candidates.map((one) => candidateOf(one, blobs))),
      };
    case "finish":
      return { ...decision, message: decision.message.slice(0, 2_000) };
    default:
      return decision;
  }
}

async function candidateOf({ values, commands, check }: CandidatePlan, blobs: BlobStore) {
  const isSet = (set: Values | null): set is Values =>
    set !== null && (set.umask !== null || Object.keys(set.environment).length > 0);
  return {
    values: isSet(values) ? await blobs.put(renderValues(values)) : null,
    scripts: await Promise.all(commands.map((command) => blobs.put(command))),
    check: check === null ? null : await blobs.put(check),
  };
}

function modelPolicy(
  deps: Deps,
  { plan, repeat }: OpenAttempt,
  name: string,
  { step, part, folder, sweep, cell, attempt }: Input,
  onCall: (receipt: { seconds: number }) => void,
): Policy {
  const model = plan.lock.models[name];
  const endpoint = plan.settings.endpoints[name];
  if (model === undefined || endpoint === undefined)
    throw new Error(`${folder}: no model ${name} in the plan`);
  const { blobs, stateFolder } = deps;
  const key = { folder, sweep, cell, attempt };
  const signal = cancellationSignal();
  const caller = { key, sweep: plan, repeat, model, endpoint, blobs, stateFolder, signal };
  return { kind: "openai", caller, step, part, made: new Map(), onCall };
}

/** What is the agent's own failure (its budget, answers of no use) ends its set-up; what it left is judged all the same. */
async function decideOrEnd(system: System, context: DecideContext): Promise<Decision> {
  try {
    return await system.decide(context);
  } catch (error) {
    if (error instanceof OverflowError) {
      const message = `the conversation is longer than the model takes: ${error.message}`;
      return { kind: "finish", claim: null, message, cause: "agent_budget" };
    }
    if (!(error instanceof CausedError) || !CAUSES[error.failure].agent) throw error;
    return { kind: "finish", claim: null, message: error.message, cause: error.failure as AgentCause };
  }
}
