import { appendFile, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { Move, Observation } from "../../workflows/moves.ts";
import type { AttemptKey } from "../../workflows/types.ts";
import type { Values } from "../setup/values.ts";
import { attemptFolder } from "./sweep-folder.ts";

/** One line of `trajectory.jsonl`. Outputs are the head and tail as the agent saw them; the digests name more of them. */
export interface Step {
  step: number;
  part: number;
  move: Move;
  /** The command's text, for readers. */
  command: string | null;
  /** What an `environment` move set, references replaced. */
  values: Values | null;
  observation: (Observation & { stdout: StepOutput; stderr: StepOutput }) | null;
}

export interface StepOutput {
  text: string;
  bytes: number;
  omitted: number;
}

/** The steps so far, in the order in which they ended, each once. A last line cut by a crash is not a step. */
export async function readTrajectory(key: AttemptKey): Promise<Step[]> {
  return (await readLines(key)).steps;
}

/** Appends the step unless it is there already: an activity that is tried again leaves one line. */
export async function appendStep(key: AttemptKey, step: Step): Promise<void> {
  const { steps, wholeBytes, bytes } = await readLines(key);
  if (steps.some((known) => known.step === step.step && known.part === step.part)) return;
  const path = trajectoryPath(key);
  if (wholeBytes < bytes) await truncate(path, wholeBytes);
  await appendFile(path, `${JSON.stringify(step)}\n`);
}

async function readLines(key: AttemptKey): Promise<{ steps: Step[]; wholeBytes: number; bytes: number }> {
  let content: Buffer;
  try {
    content = await readFile(trajectoryPath(key));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { steps: [], wholeBytes: 0, bytes: 0 };
    throw error;
  }
  const wholeBytes = content.lastIndexOf(0x0a) + 1;
  const lines = content.subarray(0, wholeBytes).toString("utf8").split("\n").slice(0, -1);
  const steps = new Map<string, Step>();
  for (const [index, line] of lines.entries()) {
    const step = parseStep(line, `${trajectoryPath(key)}:${index + 1}`);
    // A worker that was stopped and goes on may write a step that its successor has written: the first one counts.
    const id = `${step.step}.${step.part}`;
    if (!steps.has(id)) steps.set(id, step);
  }
  return { steps: [...steps.values()], wholeBytes, bytes: content.length };
}

function parseStep(line: string, where: string): Step {
  try {
    return JSON.parse(line) as Step;
  } catch (error) {
    const remedy = "move the attempt's folder away to run its cell again";
    throw new UsageError(`${where}: not JSON (${(error as Error).message}); ${remedy}`, { cause: error });
  }
}

function trajectoryPath(key: AttemptKey): string {
  return join(attemptFolder(key), "trajectory.jsonl");
}
