import type { DecideInput, DecideOutput } from "../roles/decide.ts";
import type { Suggestion, Turn } from "../roles/turn.ts";
import { finish, rollBack, setVariable, shell, tryUnit, verify } from "./answers.ts";
import type { Facts } from "./facts.ts";
import { changedSince, commandOf, purposeOf, saidBy, timesRun, triesSince, turnsFor } from "./history.ts";
import { needsOf } from "./needs.ts";
import { planOf, type Step } from "./plan.ts";
import { headersCommand, repairsOf } from "./repair.ts";
import { VERY_MESSAGE } from "./select.ts";
import {
  bestEra,
  failedVerifications,
  freshThought,
  isBad,
  type State,
  settledKeys,
  stateOf,
} from "./state.ts";
import { SURVEY, surveyed } from "./survey.ts";
import { freshCommand, toolCommands } from "./tools.ts";
import { settledMessage } from "./verdict.ts";

const APT = "apt-get update -qq && apt-get install -y -qq --no-install-recommends";
const NEEDS_PYTHON = `${APT} python3 python3-venv python3-pip python3-dev build-essential`;
const VIRTUALENV =
  "python3 -m pip install --quiet --break-system-packages virtualenv && python3 -m virtualenv --clear /workspace/venv";
const VARIABLES = [
  ["VIRTUAL_ENV", "/workspace/venv"],
  ["PATH", "/workspace/venv/bin:$PATH"],
] as const;

/**
 * SetupX's main agent as rules: survey, plan, install, verify; what fails is looked up in what experience suggests, then
 * mended by its message, then gone around. The turns so far decide alone, so the same turns give the same action.
 */
export function decideByRules(input: DecideInput): DecideOutput {
  const { turns } = input;
  const facts = surveyed(turns);
  if (facts === null) return survey(turns);
  const state = stateOf(turns, facts);
  if (input.turnsLeft <= 1) return conclude(input, state);
  return (
    takeBack(input, state) ??
    unsolvable(input, state) ??
    mend(input, facts, state) ??
    makeEnvironment(input, state) ??
    setUp(input, facts, state) ??
    check(input, state) ??
    otherEra(input, state) ??
    conclude(input, state)
  );
}

function survey(turns: DecideInput["turns"]): DecideOutput {
  const last = turns.at(-1);
  if (last !== undefined && commandOf(last) === SURVEY) {
    return shell("python: Without Python nothing can be surveyed.", NEEDS_PYTHON);
  }
  return shell("survey: What does the repository say that it needs?", SURVEY);
}

/** What was tried for a verification and left its problem as it was goes, so that only what helps is replayed. */
function takeBack({ turns, frames }: DecideInput, { start }: State): DecideOutput | null {
  const [before, after] = failedVerifications(turns, start).slice(-2);
  const [tried, ...others] = turns
    .slice((before?.index ?? turns.length) + 1, after?.index)
    .filter(({ success }) => success);
  if (before?.verdict == null || after?.verdict == null || after.index !== turns.length - 1) return null;
  const [was, is] = [before, after].map(({ index }) => wordsOf(saidBy(turns[index] as Turn)));
  const same = was === is && after.verdict.passed <= before.verdict.passed;
  if (!same || tried?.action.kind !== "try" || others.length > 0 || frames < 2) return null;
  return rollBack("back: What was tried did not help.", 1);
}

/** What a hint says of the problem, without numbers. */
function wordsOf(hint: string): string {
  return hint.replace(/\(collected \d[\s\S]*$/, "").replaceAll(/\d+/g, "#");
}

/** Where the project needs what did not exist yet, the date is wrong: the files do not tell when the release was made. */
function unsolvable({ turns }: DecideInput, state: State): DecideOutput | null {
  const last = turns.at(-1);
  if (last === undefined || last.success || state.choices.era === null || purposeOf(last) !== "project")
    return null;
  const message = saidBy(last);
  // What a dependency's own build needs is another matter: a later one of it may do.
  const impossible =
    !/Failed to (?:download and )?build/.test(message) &&
    /No solution found|unsatisfiable|No matching distribution|no versions? of/.test(message);
  return impossible ? otherEraFor(turns, state) : null;
}

const MENDED = /^(?:fresh|tools|project|tests|pytest|imports|verify)$/;
/** Below it are likenesses of words. */
const SURE = 0.5;

function isWorthTrying({ commands, environment, reason, confidence }: Suggestion): boolean {
  const runs = commands.length + Object.keys(environment).length > 0;
  return runs && (reason === VERY_MESSAGE || confidence >= SURE);
}

const MOST_TRIES = 4;
const MOST_TRIES_IN_ALL = 16;
const MOST_REPAIRS = 4;

/** What failed last, while nothing has changed since: experience first, then what the message itself says. */
function mend(
  { turns, lastError, suggestions }: DecideInput,
  facts: Facts,
  state: State,
): DecideOutput | null {
  const index = turns.findLastIndex(({ success, action }) => !success && action.kind !== "try");
  const failed = turns[index];
  if (failed === undefined || index < state.start || changedSince(turns, index)) return null;
  const purpose = failed.action.kind === "verify" ? "verify" : purposeOf(failed);
  const repairing = purpose === "repair" ? lastMended(turns, index) : index;
  if (repairing === null || (purpose !== "repair" && !MENDED.test(purpose))) return null;
  const unit = suggestions.find(isWorthTrying);
  const all = turns.filter(({ action }) => action.kind === "try").length;
  if (lastError !== null && unit && triesSince(turns, repairing) < MOST_TRIES && all < MOST_TRIES_IN_ALL) {
    return tryUnit(`try: ${unit.reason || "Experience with like failures."}`, unit.unit);
  }
  const message = saidBy(turns[repairing] as Turn);
  const since = turns.slice(repairing + 1).filter((turn) => purposeOf(turn) === "repair").length;
  const headers = purposeOf(turns[repairing] as Turn) === "project" ? headersCommand(facts) : null;
  const repairs = [...repairsOf(message, facts, state.choices), ...(headers === null ? [] : [headers])];
  const repair = repairs.find((command) => timesRun(turns, command, Math.max(0, state.start)) === 0);
  if (repair === undefined || since >= MOST_REPAIRS) return null;
  return shell("repair: The message says what is missing.", repair);
}

/** The failure that a failed repair was for. */
function lastMended(turns: DecideInput["turns"], end: number): number | null {
  for (let index = end - 1; index >= 0; index--) {
    const turn = turns[index];
    if (turn === undefined || turn.action.kind === "try" || purposeOf(turn) === "repair") continue;
    return turn.success ? null : index;
  }
  return null;
}

function makeEnvironment({ turns }: DecideInput, { start, choices }: State): DecideOutput | null {
  if (start >= 0) return null;
  const [uv = "", pip = ""] = toolCommands();
  const tools = [uv, `set -e\n${NEEDS_PYTHON}\n${uv}`, pip];
  const why = "A fast installer, apart from the environment.";
  const installer = advance({ name: "tools", why, commands: tools, must: false }, turns, 0).move;
  if (installer !== null) return installer;
  const thought = freshThought(choices.era);
  const command = freshCommand(choices.era);
  const commands = [command, `${NEEDS_PYTHON} && ${command}`, VIRTUALENV];
  return advance({ name: "fresh", why: thought, commands, must: true }, turns, 0).move;
}

function setUp({ turns, environment }: DecideInput, facts: Facts, state: State): DecideOutput | null {
  for (const [name, value] of VARIABLES) {
    const asked = turns.some(({ action }) => action.kind === "set_env" && action.name === name);
    if (!asked && !(environment[name] ?? "").startsWith("/workspace/venv")) {
      return setVariable("variable: Commands and tests use the environment.", name, value);
    }
  }
  for (const step of planOf(facts, needsOf(facts), state.choices)) {
    const start = step.name === "system" ? 0 : Math.max(0, state.start);
    const { done, move } = advance(step, turns, start);
    if (move !== null) return move;
    if (!done && step.must && state.made < state.eras.length) return otherEraFor(turns, state);
  }
  return null;
}

const MOST_RUNS = 6;
const MOST_RUNS_OF_STEP = 12;

/** The next of a step's commands: the one that failed once more, after something changed; else one that was not run yet. */
function advance(
  { name, why, commands }: Step,
  turns: DecideInput["turns"],
  start: number,
): { done: boolean; move: DecideOutput | null } {
  const mine = turnsFor(turns, name, start);
  if (mine.some((index) => turns[index]?.success)) return { done: true, move: null };
  if (mine.length >= MOST_RUNS_OF_STEP) return { done: false, move: null };
  const thought = why.startsWith(`${name}:`) ? why : `${name}: ${why}`;
  const last = mine.at(-1) ?? -1;
  const failed = last < 0 ? null : commandOf(turns[last] as Turn);
  if (failed !== null && commands.includes(failed) && changedSince(turns, last)) {
    const again = timesRun(turns, failed, start) < MOST_RUNS;
    if (again) return { done: false, move: shell(thought, failed) };
  }
  const next = commands.find((command) => timesRun(turns, command, start) === 0);
  return { done: false, move: next === undefined ? null : shell(thought, next) };
}

const MOST_VERIFICATIONS = 8;

/** Verifies what is new: the environment, or what to look past. */
function check({ turns }: DecideInput, { start }: State): DecideOutput | null {
  const failed = failedVerifications(turns, start);
  const last = failed.at(-1);
  const settled = settledKeys(turns, failed);
  const message = settledMessage(settled);
  const others = (last?.verdict?.keys ?? []).filter((key) => !settled.includes(key));
  const lookedPast = last !== undefined && others.length > 0 && message !== hintAt(turns, last.index);
  const isNew = last === undefined || changedSince(turns, last.index) || lookedPast;
  if (!isNew || failed.length >= MOST_VERIFICATIONS) return null;
  return verify("verify: All of the plan is done.", message);
}

function hintAt(turns: DecideInput["turns"], index: number): string {
  const action = turns[index]?.action;
  return action?.kind === "verify" ? action.hint : "";
}

function otherEra({ turns }: DecideInput, state: State): DecideOutput | null {
  const verdict = failedVerifications(turns, state.start).at(-1)?.verdict ?? null;
  if (verdict === null || !isBad(verdict)) return null;
  return otherEraFor(turns, state);
}

/** The next era; after the last one, once, the one under which most worked. */
function otherEraFor(
  turns: DecideInput["turns"],
  { eras, made, choices, start }: State,
): DecideOutput | null {
  const best = bestEra(turns);
  const next = made < eras.length ? eras[made] : made === eras.length ? best : undefined;
  if (next === undefined || next === choices.era) return null;
  if (timesRun(turns, freshCommand(next), start + 1) > 0) return null;
  return shell(freshThought(next), freshCommand(next));
}

function conclude({ turns }: DecideInput, { start }: State): DecideOutput {
  const last = failedVerifications(turns, start).at(-1);
  const verdict = last?.verdict ?? null;
  const ready = verdict !== null && verdict.passed > 0 && verdict.uncollected === 0;
  const how =
    verdict === null
      ? "Nothing verified the environment."
      : `${verdict.passed} tests pass, ${verdict.failed} fail, ${verdict.uncollected} modules are not collected.`;
  return finish("finish: Nothing more can be done.", ready, how);
}
