import type { Move, Observation, StepKey } from "../../workflows/moves.ts";
import type { SandboxRef } from "../../workflows/types.ts";
import { beating, openAttempt, whileBeating } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { CausedError } from "../errors.ts";
import { refuseFullDisk } from "../host-disk.ts";
import type { SandboxDriver } from "../sandbox/driver.ts";
import { runCommand } from "../sandbox/run-command.ts";
import { appendStep, readTrajectory, type Step } from "../store/trajectory.ts";
import { agentCommand } from "./agent-command.ts";
import { survivingSteps, valuesOf } from "./surviving.ts";
import { expanded, expansion, parseValues } from "./values.ts";

/** What the trajectory keeps of each output stream, in bytes: enough to read, small enough for thousands of runs. */
const KEPT_OUTPUT = { head: 16_384, tail: 32_768 };

type Input = StepKey & { sandbox: SandboxRef; move: Move; seconds: number };

/** Makes the move in the sandbox and writes the step to the trajectory, once each. */
export async function act(deps: Deps, input: Input): Promise<Observation> {
  const { move, step, part } = input;
  const trajectory = await readTrajectory(input);
  const known = trajectory.find((other) => other.step === step && other.part === part);
  if (known?.observation) return brief(known.observation);
  const made = await make(deps, input, trajectory);
  await appendStep(input, { step, part, move, ...made });
  if (made.observation === null) throw new Error(`${stepId(step, part)}: nothing was observed`);
  return brief(made.observation);
}

type Made = Pick<Step, "command" | "values" | "observation">;

async function make(deps: Deps, input: Input, trajectory: readonly Step[]): Promise<Made> {
  const { move, sandbox } = input;
  if (move.kind === "command") {
    const command = await textOf(deps, move.script);
    return { command, values: null, observation: await observe(deps, input, trajectory, command, move.root) };
  }
  if (move.kind === "environment") {
    const values = parseValues(await textOf(deps, move.values));
    const observation = await observe(deps, input, trajectory, expansion(values), move.root);
    const cut = observation.stdout.omitted > 0;
    const set = observation.exit === 0 && !cut ? expanded(values, observation.stdout.text) : null;
    return { command: null, values: set, observation: cut ? { ...observation, exit: null } : observation };
  }
  const from = performance.now();
  const { plan } = await openAttempt(input);
  await whileBeating(() => moveFrames(deps.driver(plan), sandbox, move));
  return { command: null, values: null, observation: quiet((performance.now() - from) / 1_000) };
}

type Observed = NonNullable<Step["observation"]>;

async function observe(
  deps: Deps,
  input: Input,
  trajectory: readonly Step[],
  command: string,
  root = "main",
): Promise<Observed> {
  const { sandbox, step, part, seconds } = input;
  const { plan } = await openAttempt(input);
  const driver = deps.driver(plan);
  const id = stepId(step, part);
  const values = valuesOf(survivingSteps(trajectory), root);
  const status = await runCommand(
    driver,
    sandbox,
    agentCommand(plan, id, command, seconds, { root, values }),
    beating(),
  );
  if (status.exit !== 0) await refuseFullDisk(deps.stateFolder);
  if (status.end === "lost") throw new CausedError("sandbox_lost", `${id}: the sandbox lost the command`);
  const [stdout, stderr] = await Promise.all([
    driver.read(sandbox, id, "stdout", KEPT_OUTPUT),
    driver.read(sandbox, id, "stderr", KEPT_OUTPUT),
  ]);
  return { exit: status.exit, end: status.end, seconds: status.seconds, stdout, stderr };
}

/** Makes a move that runs no command. */
export function moveFrames(
  driver: SandboxDriver,
  sandbox: SandboxRef,
  move: Exclude<Move, { kind: "command" | "environment" }>,
): Promise<void> {
  switch (move.kind) {
    case "push":
      return driver.push(sandbox, "main", move.frame);
    case "pop":
      return driver.pop(sandbox, "main", move.frame);
    case "fork":
      return driver.fork(sandbox, "main", move.root);
    case "drop":
      return driver.drop(sandbox, move.root);
  }
}

/** Ids of commands; a step of one command alone is named by its step. */
export function stepId(step: number, part: number): string {
  const turn = `step-${String(step).padStart(4, "0")}`;
  return part === 0 ? turn : `${turn}-${part}`;
}

async function textOf(deps: Deps, digest: string): Promise<string> {
  return (await deps.blobs.get(digest)).toString("utf8");
}

function quiet(seconds: number): Observed {
  const nothing = { text: "", bytes: 0, omitted: 0 };
  return { exit: 0, end: "exited", seconds, stdout: nothing, stderr: nothing };
}

function brief({ exit, end, seconds }: Observation): Observation {
  return { exit, end, seconds };
}
