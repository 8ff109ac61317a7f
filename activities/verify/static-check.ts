import { text } from "node:stream/consumers";
import type { StaticResult } from "../../workflows/types.ts";
import { CausedError } from "../errors.ts";
import type { VerifyContext } from "./context.ts";
import {
  findInterpreter,
  type Interpreter,
  noInterpreter,
  quote,
  runShell,
  underInterpreter,
} from "./interpreter.ts";
import { NODE, PYRIGHT, PYRIGHT_CONFIG } from "./mounts.ts";
import { lastLine, shortDetail } from "./session.ts";

const PYRIGHT_SECONDS = 600;
const PYRIGHT_HEAP_MB = 2048;
const PYRIGHT_OUTPUT_BYTES = 64 << 20;
const PIP_SECONDS = 120;
const NO_PIP = 42;

/**
 * Stage 5 of metrics.md, for Python repositories: EnvBench's gate (pyright's `reportMissingImports` diagnostics at level
 * error; `reportMissingModuleSource` does not count) and whether `pip check` is content.
 *
 * pyright, its Node and its configuration are the verifier's. EnvBench runs pyright plainly, which obeys a
 * pyrightconfig.json, a [tool.pyright] table and a typings folder of the repository; they are not read here, since
 * the artifact could have planted them. A repository that silences pyright itself is therefore judged more strictly.
 * Comments in source files (`# type: ignore`) count as they do for EnvBench.
 */
export async function verifyStatically(context: VerifyContext): Promise<StaticResult> {
  const interpreter = await findInterpreter({ ...context, prefix: `${context.prefix}-static` });
  if (interpreter === null) {
    return { missing_imports: null, pip_check: null, detail: shortDetail(noInterpreter(context)) };
  }
  const imports = await missingImports(context, interpreter);
  const pip = await pipCheck(context, interpreter);
  const details = [imports.detail, pip.detail].filter((detail) => detail !== null);
  return {
    missing_imports: imports.value,
    pip_check: pip.value,
    detail: shortDetail(details.length > 0 ? details.join("; ") : null),
  };
}

interface Measured<T> {
  value: T | null;
  detail: string | null;
}

async function missingImports(context: VerifyContext, { python }: Interpreter): Promise<Measured<number>> {
  const id = `${context.prefix}-pyright`;
  const flags = `--level error --outputjson --pythonpath ${quote(python)} --project ${PYRIGHT_CONFIG}`;
  // An empty environment: NODE_OPTIONS and the like are not the environment's to set.
  const command = `exec -c ${NODE} --max-old-space-size=${PYRIGHT_HEAP_MB} ${PYRIGHT} ${flags}`;
  const ended = await runShell(context, id, command, PYRIGHT_SECONDS, { outputBytes: PYRIGHT_OUTPUT_BYTES });
  if (ended.end !== "exited") return unmeasured(`pyright ended by its ${ended.end} limit`);
  if (ended.exit === 3 || ended.exit === 4) {
    throw new CausedError("verifier_fault", `pyright refused its configuration (exit code ${ended.exit})`);
  }
  const { driver, sandbox } = context;
  const count = countMissingImports(await text(await driver.output(sandbox, id, "stdout")));
  if (count !== null) return { value: count, detail: null };
  const errors = await driver.read(sandbox, id, "stderr", { head: 0, tail: 4_096 });
  return unmeasured(`pyright gave no result (exit code ${ended.exit}): ${lastLine(errors.text)}`);
}

/** From pyright's JSON output; null when it is not such, or no file was looked at. */
export function countMissingImports(output: string): number | null {
  try {
    const { generalDiagnostics, summary } = JSON.parse(output) as PyrightOutput;
    if (!(summary.filesAnalyzed > 0)) return null;
    return generalDiagnostics.filter(({ rule }) => rule === "reportMissingImports").length;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

interface PyrightOutput {
  generalDiagnostics: { rule?: string }[];
  summary: { filesAnalyzed: number };
}

async function pipCheck(context: VerifyContext, interpreter: Interpreter): Promise<Measured<boolean>> {
  const program = [
    "import importlib.util, runpy, sys",
    `importlib.util.find_spec("pip") or sys.exit(${NO_PIP})`,
    'sys.argv = ["pip", "check"]',
    'runpy.run_module("pip", run_name="__main__", alter_sys=True)',
  ].join("\n");
  const id = `${context.prefix}-pip-check`;
  const command = underInterpreter(interpreter, `-c ${quote(program)}`);
  const ended = await runShell(context, id, command, PIP_SECONDS, { cwd: "/" });
  if (ended.end !== "exited") return unmeasured(`pip check ended by its ${ended.end} limit`);
  if (ended.exit === NO_PIP) return unmeasured("the environment has no pip");
  if (ended.exit === 0 || ended.exit === 1) return { value: ended.exit === 0, detail: null };
  return unmeasured(`pip check ended with exit code ${ended.exit}`);
}

function unmeasured(detail: string): { value: null; detail: string } {
  return { value: null, detail };
}
