import { dirname } from "node:path";
import { CausedError } from "../errors.ts";
import { type Ended, runCommand } from "../sandbox/run-command.ts";
import { REPOSITORY, type VerifyContext } from "./context.ts";
import { NODE, PYRIGHT, PYRIGHT_CONFIG, RUNNER } from "./mounts.ts";

export interface Interpreter {
  /** Absolute path inside the sandbox. */
  python: string;
  /** Root of the virtual environment it belongs to, or null. */
  venv: string | null;
}

const DEFAULTS = ["/workspace/venv/bin/python", `${REPOSITORY}/.venv/bin/python`];
const PROBE_SECONDS = 60;

/**
 * The environment's Python: the artifact's own word if it gave one, else /workspace/venv, else the repository's .venv,
 * else `python3` or `python` on PATH. Null when there is none (or no shell to look with), which is the agent's failure.
 * Throws `verifier_fault` when the verifier's tools are not in the sandbox.
 */
export async function findInterpreter(context: VerifyContext): Promise<Interpreter | null> {
  const id = `${context.prefix}-interpreter`;
  const ended = await runShell(context, id, probe(context.interpreter), PROBE_SECONDS);
  const { text } = await context.driver.read(context.sandbox, id, "stdout", { head: 16_384, tail: 0 });
  const found = new Map(
    text
      .split("\n")
      .map((line) => line.split("\t"))
      .map(([name = "", ...value]) => [name, value.join("\t")]),
  );
  if (found.has("missing")) {
    throw new CausedError("verifier_fault", `the sandbox lacks the verifier's tool ${found.get("missing")}`);
  }
  if (ended.end !== "exited") {
    throw new CausedError("verifier_fault", `the search for the interpreter ended as ${ended.end}`);
  }
  // Without its last word the environment's own shell does not work: what such a set-up left can't be used.
  const python = found.has("done") ? found.get("python") : undefined;
  return python === undefined ? null : { python, venv: found.get("venv") ?? null };
}

export function noInterpreter(context: VerifyContext): string {
  const places = context.interpreter ?? [...DEFAULTS, "python3 on PATH"].join(", ");
  return `no Python interpreter in the environment (looked at ${places})`;
}

function probe(own: string | null): string {
  const candidates =
    own === null
      ? [...DEFAULTS.map(quote), '"$(command -v python3)"', '"$(command -v python)"']
      : [quote(own), quote(`${own}/bin/python`)];
  return `
for tool in ${[RUNNER, NODE, PYRIGHT, PYRIGHT_CONFIG].join(" ")}; do
  [ -r "$tool" ] || { printf 'missing\\t%s\\n' "$tool"; exit; }
done
for candidate in ${candidates.join(" ")}; do
  if [ -x "$candidate" ] && [ ! -d "$candidate" ]; then
    printf 'python\\t%s\\n' "$candidate"
    venv=$(dirname "$(dirname "$candidate")")
    [ ! -f "$venv/pyvenv.cfg" ] || printf 'venv\\t%s\\n' "$venv"
    break
  fi
done
printf 'done\\t\\n'`;
}

/**
 * A bash command that runs the interpreter as a person would who has activated the environment: its bin folder first on
 * PATH, and its activate script read, for set-ups put variables there.
 */
export function underInterpreter({ python, venv }: Interpreter, args: string): string {
  const lines = [`export PATH=${quote(dirname(python))}:"$PATH"`];
  if (venv !== null) {
    const activate = quote(`${venv}/bin/activate`);
    lines.push(`export VIRTUAL_ENV=${quote(venv)}`, `[ ! -f ${activate} ] || . ${activate} </dev/null >&2`);
  }
  return [...lines, `exec ${quote(python)} ${args}`].join("\n");
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Runs a command of the verifier from the repository; `lost` is never an answer. */
export async function runShell(
  context: VerifyContext,
  id: string,
  command: string,
  seconds: number,
  options: { stdin?: string; cwd?: string; outputBytes?: number } = {},
): Promise<Ended> {
  const ended = await runCommand(
    context.driver,
    context.sandbox,
    {
      id,
      root: context.root,
      command,
      cwd: options.cwd ?? REPOSITORY,
      environment: {},
      seconds,
      outputBytes: options.outputBytes ?? 1 << 20,
      stdin: options.stdin ?? null,
    },
    context.watch,
  );
  if (ended.end === "lost") throw new CausedError("sandbox_lost", `the sandbox lost the command ${id}`);
  if (ended.end === "stopped") throw new CausedError("verifier_fault", `the command ${id} was stopped`);
  return ended;
}
