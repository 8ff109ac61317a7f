import type { Step } from "../../store/trajectory.ts";

/** A failure and what ended it. */
export interface Repair {
  /** The command that failed and later got further. */
  command: string;
  /** The line that says what was wrong. */
  message: string;
  /** What was done in between, in order. */
  remedies: string[];
}

/** The kinds of line that tell what is wrong, the most telling first. */
const TELLING = [
  /No module named \S+/,
  /fatal error: /,
  /: (?:command )?not found$/,
  /cannot open shared object file/,
  /^(?:E|ERROR|error|Error)\b.*: /,
  /\b\w*(?:Error|Exception)\b: /,
  /No such file or directory/,
];

/** Where in a file or script it was: other projects have other files. */
const PLACE = /^(?:[\w./+-]+:\d+(?::\d+)?: |(?:\/bin\/)?(?:ba)?sh: (?:line )?\d+: )/;

/** What pip and others print around the line that matters. */
const WRAPPING =
  /subprocess-exited-with-error|metadata-generation-failed|Failed building wheel|exit code|note: |hint: |legacy-install-failure|short test summary/;

/** Commands that change the environment; looking around mends nothing. */
const CHANGES =
  /\b(?:pip3?|apt(?:-get)?|conda|mamba|npm|yarn|uv|poetry|pdm|pipenv|gem|cargo)\b.*\b(?:install|add|sync|update|lock|upgrade)\b|\bvenv\b|\bexport\b|\bln -s|\bgit (?:submodule|config|fetch)\b|\bservice\b.*\bstart\b|\bsed -i|\bcp\b|\bmkdir\b/;

const MOST_REMEDIES = 5;

/**
 * The repairs of a trajectory: of two runs of one command next to each other, of which the first failed and the second did
 * not fail, or failed otherwise, what succeeded in between and changed something.
 */
export function repairsOf(steps: readonly Step[]): Repair[] {
  const repairs: Repair[] = [];
  for (const [index, failed] of steps.entries()) {
    const message = messageOf(failed);
    const { command } = failed;
    if (message === null || command === null) continue;
    const next = steps.findIndex((step, at) => at > index && step.command?.trim() === command.trim());
    const again = steps[next];
    if (again === undefined || messageOf(again) === message || again.observation?.exit === null) continue;
    const remedies = steps
      .slice(index + 1, next)
      .filter((step) => step.observation?.exit === 0 && CHANGES.test(step.command ?? ""))
      .map((step) => step.command?.trim() ?? "");
    if (remedies.length > 0 && remedies.length <= MOST_REMEDIES) repairs.push({ command, message, remedies });
  }
  return repairs;
}

/** The line of a failed step that says what is wrong; null where there is none or nothing failed. */
export function messageOf({ observation }: Step): string | null {
  if (observation === null || observation.exit === null || observation.exit === 0) return null;
  const lines = `${observation.stdout.text}\n${observation.stderr.text}`
    .split("\n")
    .map((line) =>
      line
        .replace(/^(?:E\s{2,}|\s+|[│×╰─>]+\s*)+/, "")
        .replace(PLACE, "")
        .trim(),
    )
    .filter((line) => line !== "" && !WRAPPING.test(line));
  for (const kind of TELLING) {
    const line = lines.findLast((it) => kind.test(it));
    if (line !== undefined) return line.slice(0, 300);
  }
  return null;
}
