import type { Step } from "../../store/trajectory.ts";
import { bareLines, TELLING } from "../telling.ts";

/** A failure and what ended it. */
export interface Repair {
  /** The command that failed and later got further. */
  command: string;
  /** The line that says what was wrong. */
  message: string;
  /** What was done in between, in order. */
  remedies: string[];
}

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
  const lines = bareLines(`${observation.stdout.text}\n${observation.stderr.text}`);
  for (const kind of TELLING) {
    const line = lines.findLast((it) => kind.test(it));
    if (line !== undefined) return line.slice(0, 300);
  }
  return null;
}
