import { cancellationSignal } from "@temporalio/activity";
import { CAUSES } from "../results/causes.ts";
import type { Action, AgentCause, AttemptKey } from "../workflows/types.ts";
import { type OpenAttempt, openAttempt, whileBeating } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { CausedError } from "./errors.ts";
import { OverflowError, type Policy, runRole } from "./model/run-role.ts";
import { readTrajectory } from "./store/trajectory.ts";
import { systemNamed } from "./systems/registry.ts";
import type { Decision, System } from "./systems/system.ts";

/**
 * The system's next action. It depends only on the trajectory and on the journal of calls, so a repeated call decides
 * the same.
 */
export async function decide(deps: Deps, input: AttemptKey & { step: number }): Promise<Action> {
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
  { plan, task, arm }: OpenAttempt,
  input: AttemptKey & { step: number },
  policy: Policy,
): Promise<Action> {
  const system = systemNamed(arm.system);
  if (system === undefined) throw new Error(`no system named ${arm.system}`);
  const decision = await decideOrEnd(system, {
    task,
    options: arm.options,
    trajectory: (await readTrajectory(input)).filter(({ step }) => step < input.step),
    maxSteps: plan.lock.budget.steps,
    ask: (role, asked) => runRole(role, asked, policy),
    readBlob: async (digest) => (await deps.blobs.get(digest)).toString("utf8"),
  });
  // It travels through workflow history, where nothing may be large.
  if (decision.kind === "finish") return { ...decision, message: decision.message.slice(0, 2_000) };
  const script = await deps.blobs.put(decision.command);
  return { kind: "command", script, seconds: decision.seconds ?? null };
}

function modelPolicy(
  deps: Deps,
  { plan, repeat }: OpenAttempt,
  name: string,
  { step, folder, sweep, cell, attempt }: AttemptKey & { step: number },
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
  return { kind: "openai", caller, step, made: new Map(), onCall };
}

/** What is the agent's own failure (its budget, answers of no use) ends its set-up; what it left is judged all the same. */
async function decideOrEnd(system: System, context: Parameters<System["decide"]>[0]): Promise<Decision> {
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
