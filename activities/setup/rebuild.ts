import type { AttemptKey, SandboxRef } from "../../workflows/types.ts";
import { beating, openAttempt, whileBeating } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { CausedError } from "../errors.ts";
import { refuseFullDisk } from "../host-disk.ts";
import { runCommand } from "../sandbox/run-command.ts";
import { readTrajectory, type Step } from "../store/trajectory.ts";
import { moveFrames, stepId } from "./act.ts";
import { agentCommand } from "./agent-command.ts";
import { survivingSteps } from "./surviving.ts";
import { NO_VALUES, overlaid, type Values } from "./values.ts";

type Input = AttemptKey & { sandbox: SandboxRef; seconds: number };

/**
 * Brings the sandbox that takes a lost one's place to where that was: what holds of the trajectory is done once more,
 * frames and open forks as well, under the same ids, so that a repeated call goes on where the first one stopped.
 * `seconds` bounds each command.
 */
export async function rebuildSandbox(deps: Deps, input: Input): Promise<void> {
  const { main, forks } = survivingSteps(await readTrajectory(input));
  const values = await redo(deps, input, main, "main", NO_VALUES);
  for (const [root, steps] of forks) {
    const { plan } = await openAttempt(input);
    await whileBeating(() => moveFrames(deps.driver(plan), input.sandbox, { kind: "fork", root }));
    await redo(deps, input, steps, root, values);
  }
}

/** Gives the values that hold in the end. */
async function redo(
  deps: Deps,
  input: Input,
  steps: readonly Step[],
  root: string,
  before: Values,
): Promise<Values> {
  const { plan } = await openAttempt(input);
  const driver = deps.driver(plan);
  let values = before;
  for (const { step, part, move, command, values: set } of steps) {
    if (set !== null) values = overlaid(values, set);
    if (move.kind === "push") await whileBeating(() => moveFrames(driver, input.sandbox, move));
    if (move.kind !== "command" || command === null) continue;
    const exec = agentCommand(plan, stepId(step, part), command, input.seconds, { root, values });
    const { end, exit } = await runCommand(driver, input.sandbox, exec, beating());
    if (exit === 0) continue;
    await refuseFullDisk(deps.stateFolder);
    const what = `step ${step} does not succeed again in the sandbox that takes the lost one's place`;
    throw new CausedError("sandbox_lost", `${what} (${end}, exit ${exit})`);
  }
  return values;
}
