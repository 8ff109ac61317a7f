import { join } from "node:path";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { ArtifactRef, AttemptKey } from "../../workflows/types.ts";
import type { Deps } from "../deps.ts";
import { quote } from "../knowledge/atoms/quote.ts";
import { attemptFolder } from "../store/sweep-folder.ts";
import { readTrajectory, type Step } from "../store/trajectory.ts";
import { REPOSITORY } from "../verify/context.ts";
import { survivingSteps, valuesOf } from "./surviving.ts";
import type { Values } from "./values.ts";

/** The commands that hold, in order, as one script. */
export async function freezeArtifact(deps: Deps, key: AttemptKey): Promise<ArtifactRef> {
  const surviving = survivingSteps(await readTrajectory(key));
  const script = artifactScript(surviving.main.flatMap(lineOf), valuesOf(surviving, "main"));
  await writeFileAtomically(join(attemptFolder(key), "artifact", "setup.sh"), script);
  const commands = surviving.main.filter(({ move }) => move.kind === "command").length;
  return { digest: await deps.blobs.put(script), commands };
}

/** A command, or values for all that come after it. */
export type ArtifactLine = { command: string } | { values: Values };

function lineOf({ move, command, values }: Step): ArtifactLine[] {
  if (move.kind === "command") return [{ command: command ?? "" }];
  return values === null ? [] : [{ values }];
}

/** Linux takes no argument over 128 KiB. */
const LONGEST_ARGUMENT = 120_000;

/**
 * Each command gets a bash of its own, as it had in the sandbox; the first failure ends the script with its code. The
 * variables that hold at the end reach the tests through the environment's activate script.
 */
export function artifactScript(lines: readonly ArtifactLine[], atEnd: Values): string {
  const blocks = lines.map((line) =>
    "values" in line ? assignments(line.values) : commandBlock(line.command),
  );
  const last = forTests(atEnd);
  // Without a line after it the last command takes the place of the script's own bash, as it had none above it before.
  return ["#!/usr/bin/env bash", "set -e", `cd ${REPOSITORY}`, "", ...blocks, ...(last ? [last] : [])].join(
    "\n",
  );
}

function commandBlock(command: string): string {
  return Buffer.byteLength(command) > LONGEST_ARGUMENT
    ? fromDescriptor(command)
    : `bash -c '${command.replaceAll("'", `'\\''`)}'\n`;
}

/** A command too long for an argument is read by its bash from a descriptor. */
function fromDescriptor(command: string): string {
  const lines = new Set(command.split("\n"));
  let end = "END_OF_COMMAND";
  while (lines.has(end)) end += "_";
  return `bash /dev/fd/63 63<<'${end}'\n${command}\n${end}\n`;
}

function assignments({ environment, umask }: Values): string {
  const exports = Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}\n`);
  return [...(umask === null ? [] : [`umask ${umask}\n`]), ...exports].join("");
}

const ACTIVATE = ["/workspace/venv/bin/activate", `${REPOSITORY}/.venv/bin/activate`];

function forTests(values: Values): string {
  const text = assignments(values);
  if (text === "") return "";
  return [
    `for activate in ${ACTIVATE.join(" ")}; do`,
    `  [ ! -f "$activate" ] || printf '\\n%s' ${quote(text)} >> "$activate"`,
    "done\n",
  ].join("\n");
}
