import { middleLeftOut } from "../../middle-left-out.ts";
import type { Step } from "../../store/trajectory.ts";
import { messageOf } from "./repairs.ts";

/** Characters of each part of a transcript (the published sizes), and how many errors from either end. */
const MOST = 4_000;
const FIRST_ERRORS = 15;
const LAST_ERRORS = 10;

const INSTALLS = /\b(?:install|add|sync|upgrade)\b/;
const ERROR = /error|failed|exception|not found|no module/i;

/** How much a run may teach (the published gate): 5 for an install, 5 for an error, 1 for anything at all; 0: nothing. */
export function lessonScore(steps: readonly Step[]): number {
  const commands = steps.flatMap(({ command }) => command ?? []);
  const outputs = steps.map(({ observation }) => `${observation?.stdout.text}\n${observation?.stderr.text}`);
  const installs = commands.some((command) => INSTALLS.test(command)) ? 5 : 0;
  const errors = outputs.some((output) => ERROR.test(output)) ? 5 : 0;
  return installs + errors + (commands.length > 0 ? 1 : 0);
}

/** The commands with how they ended, in order; the middle is left out when there are too many. */
export function commandsText(steps: readonly Step[]): string {
  const lines = steps.flatMap(({ step, command, observation }) =>
    command === null ? [] : [`${step}. [exit ${observation?.exit ?? "unknown"}] ${command}`],
  );
  return middleLeftOut(lines.join("\n"), MOST);
}

/** What failed commands said was wrong, by the number of their step. */
export function errorsText(steps: readonly Step[]): string {
  const errors = steps.flatMap((step) => {
    const message = messageOf(step);
    return message === null ? [] : [`${step.step}. ${message}`];
  });
  const few =
    errors.length <= FIRST_ERRORS + LAST_ERRORS
      ? errors
      : [...errors.slice(0, FIRST_ERRORS), ...errors.slice(-LAST_ERRORS)];
  return middleLeftOut(few.join("\n"), MOST);
}
