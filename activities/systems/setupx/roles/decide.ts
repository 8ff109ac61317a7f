import { z } from "zod";
import { middleLeftOut } from "../../../middle-left-out.ts";
import type { Message, Role } from "../../../model/role.ts";
import { decideByRules } from "../rules/decide.ts";
import { type AgentAction, suggestion, type Turn, turn } from "./turn.ts";

const input = z.object({
  task: z.string(),
  language: z.string(),
  turnsLeft: z.int().nonnegative(),
  /** Variables that the frames have set so far. */
  environment: z.record(z.string(), z.string()),
  /** Snapshots that can be taken back, the oldest first. */
  frames: z.int().nonnegative(),
  turns: z.array(turn),
  /** What the last failure printed, until something succeeds; null when nothing is wrong. */
  lastError: z.string().nullable(),
  /** Not tried yet; the best first. Empty without a knowledge base. */
  suggestions: z.array(suggestion),
  /** Characters of each output, and turns, that a model is shown. */
  shown: z.object({ characters: z.int().positive(), turns: z.int().positive() }),
});

/** Flat, with every field required: endpoints that hold answers to a schema take no other. */
const output = z
  .object({
    thought: z.string().describe("One or two sentences: what is known, and why this comes next."),
    action: z.enum(["SHELL_COMMAND", "TRY_XPU_SUGGESTION", "SET_ENV", "ROLLBACK_ENV", "VERIFY", "FINISH"]),
    command: z
      .string()
      .describe("SHELL_COMMAND: the command. TRY_XPU_SUGGESTION: the suggestion adapted, or empty."),
    unit: z.string().describe("TRY_XPU_SUGGESTION: the suggestion's id. Else empty."),
    name: z.string().describe("SET_ENV: the variable's name. Else empty."),
    value: z.string().describe("SET_ENV: its value. Else empty."),
    frames: z.int().describe("ROLLBACK_ENV: how many snapshots to go back, from 1. Else 0."),
    ready: z.boolean().describe("FINISH: whether the tests can run now. Else false."),
    message: z.string().describe("VERIFY: a hint for the verifier. FINISH: what was done. Else empty."),
  })
  .superRefine((answer, context) => {
    const problem = problemOf(answer);
    if (problem !== null) context.addIssue({ code: "custom", path: [problem.key], message: problem.message });
  });

export type DecideInput = z.infer<typeof input>;
export type DecideOutput = z.infer<typeof output>;

function problemOf(answer: {
  action: string;
  command: string;
  unit: string;
  name: string;
  frames: number;
}): { key: string; message: string } | null {
  const { action, command, unit, name, frames } = answer;
  if (action === "SHELL_COMMAND" && command.trim() === "")
    return { key: "command", message: "must not be empty" };
  if (action === "TRY_XPU_SUGGESTION" && unit === "") return { key: "unit", message: "must not be empty" };
  if (action === "SET_ENV" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return { key: "name", message: "must be the name of a variable" };
  }
  return action === "ROLLBACK_ENV" && frames < 1 ? { key: "frames", message: "must be 1 or more" } : null;
}

const INSTRUCTIONS = `You set up a code repository so that its own tests can run. It lies in /workspace/repo inside a \
Debian container where you are root; package registries can be reached. Act once per turn:

SHELL_COMMAND runs one bash command in /workspace/repo, in a shell of its own: directories do not last.
TRY_XPU_SUGGESTION runs a suggestion from experience with other repositories on a snapshot. It is kept when it works and \
taken back whole when it does not, so trying costs nothing but time. Name its id; give a command only to adapt it.
SET_ENV sets a variable for every later command, and for the tests. $NAME in the value is expanded once.
ROLLBACK_ENV goes back that many snapshots: files, packages and variables are as they were.
VERIFY lets somebody else look at the environment, on a copy: whether tests are found and run. If they are, you are done.
FINISH ends without that. Use it only when nothing more can be done, and say honestly whether the tests can run.

What counts: the commands that succeeded and were not taken back are run again, in order, in a fresh container; there the \
tests run without a network. So install all that the tests need, pytest as well, into /workspace/venv (make it first) or the \
repository's .venv; never wait for input; change neither tests nor sources; say VERIFY as soon as it looks ready.`;

/** The main agent: given its turns, the last failure and what experience suggests, what next? */
export const decide: Role<DecideInput, DecideOutput> = {
  name: "setup",
  input,
  output,
  instructions: INSTRUCTIONS,
  render: renderDecide,
  rules: decideByRules,
};

function renderDecide({
  task,
  language,
  turns,
  lastError,
  suggestions,
  turnsLeft,
  environment,
  frames,
  shown,
}: DecideInput): Message[] {
  const messages: Message[] = [];
  let last = `Repository: ${task} (${language}).`;
  for (const one of turns.slice(-shown.turns)) {
    messages.push({ role: "user", content: last });
    messages.push({ role: "assistant", content: JSON.stringify(spoken(one)) });
    last = outcome(one, shown.characters);
  }
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const rest = [
    last,
    variables.length > 0 ? `Variables set: ${variables.join(" ")}` : "",
    frames > 0 ? `Snapshots: ${frames}` : "",
    lastError === null ? "" : `Still unsolved:\n${middleLeftOut(lastError, shown.characters)}`,
    suggested(suggestions),
    turnsLeft <= 5 ? `${turnsLeft} turns are left.` : "",
  ];
  return [...messages, { role: "user", content: rest.filter(Boolean).join("\n\n") }];
}

function spoken({ thought, action }: Turn): object {
  return { thought, ...action };
}

function outcome({ result, note, success }: Turn, characters: number): string {
  const parts = [success ? "It worked." : "It did not work.", note];
  if (result !== null) {
    const how = result.end === "exited" ? `exit ${result.exit}` : `ended: ${result.end}`;
    parts.push(`[${how}, ${Math.round(result.seconds)} s]`);
    if (result.stdout.trim()) parts.push(`stdout:\n${middleLeftOut(result.stdout, characters)}`);
    if (result.stderr.trim()) parts.push(`stderr:\n${middleLeftOut(result.stderr, characters)}`);
  }
  return parts.filter(Boolean).join("\n");
}

/** Two layers (SetupX): what can be tried by its id, and what is advice alone. */
function suggested(suggestions: DecideInput["suggestions"]): string {
  if (suggestions.length === 0) return "";
  const lines = suggestions.map(({ unit, advice, commands, environment, reason }) => {
    const run = [...Object.entries(environment).map(([name, value]) => `${name}=${value}`), ...commands];
    const how = run.length === 0 ? "(advice only)" : `runs: ${run.join(" && ")}`;
    return `- ${unit}: ${advice.join(" ")} ${reason}\n  ${how}`;
  });
  return `Experience with like failures suggests:\n${lines.join("\n")}`;
}

/** The answer as one of the six actions. */
export function actionOf(answer: DecideOutput): AgentAction {
  switch (answer.action) {
    case "SHELL_COMMAND":
      return { kind: "shell", command: answer.command };
    case "TRY_XPU_SUGGESTION":
      return {
        kind: "try",
        unit: answer.unit,
        commands: answer.command.trim() === "" ? [] : [answer.command],
      };
    case "SET_ENV":
      return { kind: "set_env", name: answer.name, value: answer.value };
    case "ROLLBACK_ENV":
      return { kind: "rollback", frames: answer.frames };
    case "VERIFY":
      return { kind: "verify", hint: answer.message };
    case "FINISH":
      return { kind: "finish", ready: answer.ready, message: answer.message };
  }
}
