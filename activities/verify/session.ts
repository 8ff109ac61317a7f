import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { Ended } from "../sandbox/run-command.ts";
import type { VerifyContext } from "./context.ts";
import { type Interpreter, runShell, underInterpreter } from "./interpreter.ts";
import { RUNNER } from "./mounts.ts";
import { readReport, type Session } from "./report.ts";

/** What the runner is asked to do; see pytest/bench_runner.py. */
export interface Request {
  mode: "collect" | "run";
  /** Only these tests; null for all. */
  only: readonly string[] | null;
  skip: readonly string[];
  /** Seconds that one test may take. */
  limit: number;
}

export interface Ran {
  ended: Ended;
  session: Session;
  /** Beginning and end of what pytest and the tests printed. */
  log: string;
}

/** Bytes that the report, and the tests' own output, may reach. */
const OUTPUT_BYTES = 256 << 20;
const KEPT_LOG = { head: 16_384, tail: 65_536 };

/** Exit code of the runner when it had to kill a test over its limit. */
export const TIME_LIMIT_EXIT = 124;

/** Runs pytest once in the sandbox, or finds the run again that an earlier worker started under this id. */
export async function runSession(
  context: VerifyContext,
  interpreter: Interpreter,
  id: string,
  request: Request,
  seconds: number,
): Promise<Ran> {
  const { key, path } = await writeRequest(context.folder, id, request);
  const command = underInterpreter(interpreter, RUNNER);
  const ended = await runShell(context, id, command, seconds, { stdin: path, outputBytes: OUTPUT_BYTES });
  const report = await context.driver.output(context.sandbox, id, "stdout");
  const session = await readReport(report, key);
  const { text, omitted } = await context.driver.read(context.sandbox, id, "stderr", KEPT_LOG);
  return { ended, session, log: omitted > 0 ? `${text}\n[${omitted} bytes left out]` : text };
}

/**
 * The request with a fresh key, written once: a worker that takes over reads the key that the running session has.
 * It lies outside the sandbox and reaches the runner as its standard input.
 */
async function writeRequest(
  folder: string,
  id: string,
  request: Request,
): Promise<{ key: string; path: string }> {
  const path = join(folder, "verify", `${id}.request.json`);
  const draft = `${path}.${randomBytes(8).toString("hex")}.draft`;
  await mkdir(join(folder, "verify"), { recursive: true });
  await writeFileAtomically(draft, JSON.stringify({ key: randomBytes(32).toString("hex"), ...request }));
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  const { key } = JSON.parse(await readFile(path, "utf8")) as { key: string };
  return { key, path };
}

/** The last line that says something, to explain an end without a word. */
export function lastLine(log: string): string {
  const lines = log.split("\n").map((line) => line.trim());
  return (lines.findLast((line) => line !== "") ?? "no output").slice(0, 300);
}

/** Names of tests and files are the environment's, and may be of any length; a detail travels through history. */
export function shortDetail(detail: string | null): string | null {
  return detail === null || detail.length <= 500 ? detail : `${detail.slice(0, 499)}…`;
}
