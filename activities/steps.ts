import { join } from "node:path";
import { writeFileAtomically } from "../results/atomic-file.ts";
import type { Action, ArtifactRef, AttemptKey, Observation, SandboxRef } from "../workflows/types.ts";
import { agentCommand } from "./agent-command.ts";
import { beating, openAttempt } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { CausedError } from "./errors.ts";
import { refuseFullDisk } from "./host-disk.ts";
import { runCommand } from "./sandbox/run-command.ts";
import { attemptFolder } from "./store/sweep-folder.ts";
import { appendStep, readTrajectory, type Step } from "./store/trajectory.ts";
import { REPOSITORY } from "./verify/context.ts";

/** What the trajectory keeps of each output stream, in bytes: enough to read, small enough for thousands of runs. */
const KEPT_OUTPUT = { head: 16_384, tail: 32_768 };

/** Runs the action in the sandbox and writes the step to the trajectory, once each. */
export async function act(
  deps: Deps,
  input: AttemptKey & { sandbox: SandboxRef; step: number; action: Action; seconds: number },
): Promise<Observation> {
  const { action, sandbox, step } = input;
  if (action.kind !== "command") throw new Error(`a ${action.kind} action can't be run`);
  const known = (await readTrajectory(input)).find((other) => other.step === step);
  if (known?.observation) return brief(known.observation);
  const { plan } = await openAttempt(input);
  const driver = deps.driver(plan);
  const command = (await deps.blobs.get(action.script)).toString("utf8");
  const id = stepId(step);
  const exec = agentCommand(plan, id, command, input.seconds);
  const status = await runCommand(driver, sandbox, exec, beating());
  if (status.exit !== 0) await refuseFullDisk(deps.stateFolder);
  if (status.end === "lost") throw new CausedError("sandbox_lost", `${id}: the sandbox lost the command`);
  const observation = { exit: status.exit, end: status.end, seconds: status.seconds };
  const [stdout, stderr] = await Promise.all([
    driver.read(sandbox, id, "stdout", KEPT_OUTPUT),
    driver.read(sandbox, id, "stderr", KEPT_OUTPUT),
  ]);
  await appendStep(input, { step, action, command, observation: { ...observation, stdout, stderr } });
  return observation;
}

/**
 * Brings the sandbox that takes a lost one's place to where that was: the commands that succeeded run once more, under
 * their ids, so that a repeated call goes on where the first one stopped. `seconds` bounds each of them.
 */
export async function rebuildSandbox(
  deps: Deps,
  input: AttemptKey & { sandbox: SandboxRef; seconds: number },
): Promise<void> {
  const { plan } = await openAttempt(input);
  const driver = deps.driver(plan);
  for (const { step, command } of await survivingSteps(input)) {
    const exec = agentCommand(plan, stepId(step), command, input.seconds);
    const { end, exit } = await runCommand(driver, input.sandbox, exec, beating());
    if (exit === 0) continue;
    await refuseFullDisk(deps.stateFolder);
    const what = `step ${step} does not succeed again in the sandbox that takes the lost one's place`;
    throw new CausedError("sandbox_lost", `${what} (${end}, exit ${exit})`);
  }
}

function stepId(step: number): string {
  return `step-${String(step).padStart(4, "0")}`;
}

async function survivingSteps(key: AttemptKey): Promise<{ step: number; command: string }[]> {
  const survives = ({ command, observation }: Step) => command !== null && observation?.exit === 0;
  return (await readTrajectory(key))
    .filter(survives)
    .map(({ step, command }) => ({ step, command: command ?? "" }));
}

/** The commands that succeeded, in order, as one script (EnvBench's rule: failed commands are dropped). */
export async function freezeArtifact(deps: Deps, key: AttemptKey): Promise<ArtifactRef> {
  const surviving = await survivingSteps(key);
  const script = artifactScript(surviving.map(({ command }) => command));
  await writeFileAtomically(join(attemptFolder(key), "artifact", "setup.sh"), script);
  return { digest: await deps.blobs.put(script), commands: surviving.length };
}

/** Linux takes no argument over 128 KiB. */
const LONGEST_ARGUMENT = 120_000;

/** Each command gets a bash of its own, as it had in the sandbox; the first failure ends the script with its code. */
export function artifactScript(commands: readonly string[]): string {
  const blocks = commands.map((command) =>
    Buffer.byteLength(command) > LONGEST_ARGUMENT
      ? fromDescriptor(command)
      : `bash -c '${command.replaceAll("'", `'\\''`)}'\n`,
  );
  return ["#!/usr/bin/env bash", "set -e", `cd ${REPOSITORY}`, "", ...blocks].join("\n");
}

/** A command too long for an argument is read by its bash from a descriptor. */
function fromDescriptor(command: string): string {
  const lines = new Set(command.split("\n"));
  let end = "END_OF_COMMAND";
  while (lines.has(end)) end += "_";
  return `bash /dev/fd/63 63<<'${end}'\n${command}\n${end}\n`;
}

function brief({ exit, end, seconds }: Observation): Observation {
  return { exit, end, seconds };
}
