import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CausedError } from "../errors.ts";

export interface CommandSpec {
  command: string;
  args: readonly string[];
  /** The whole environment: nothing of this process's is passed on. */
  environment: Readonly<Record<string, string>>;
  cwd: string;
  /** On abort the command and its children are killed and the reason is thrown. */
  signal: AbortSignal;
  /** Text, or a file when it is `{file}`. */
  input?: string | { file: string };
  /** Takes standard output as it comes; without it, it is collected (up to 256 MiB). */
  output?: (stdout: Readable) => Promise<void>;
}

export interface CommandResult {
  exit: number;
  stdout: Buffer;
  /** The last 16 KiB. */
  stderr: string;
}

const MAX_OUTPUT = 256 * 1024 * 1024;
const KEPT_ERROR = 16 * 1024;

/**
 * Runs a host tool to its end, in a process group of its own. A non-zero exit is a result; the throw is for a tool
 * that is not there, output beyond the ceiling, a failing consumer of the output, and for an abort.
 */
export async function runTool(spec: CommandSpec): Promise<CommandResult> {
  spec.signal.throwIfAborted();
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.environment,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const kill = () => killGroup(child.pid);
  spec.signal.addEventListener("abort", kill, { once: true });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => reject(missingTool(spec.command, error)));
    child.once("close", (code, name) => resolve(code ?? (name === null ? 1 : 128)));
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-KEPT_ERROR);
  });
  const stdout: Buffer[] = [];
  const consume = spec.output ?? ((stream) => collect(stream, stdout));
  try {
    const [exit] = await Promise.all([ended, consume(child.stdout), feed(child.stdin, spec.input)]);
    spec.signal.throwIfAborted();
    return { exit, stdout: Buffer.concat(stdout), stderr };
  } catch (error) {
    kill();
    spec.signal.throwIfAborted();
    throw error;
  } finally {
    spec.signal.removeEventListener("abort", kill);
  }
}

async function feed(stdin: NodeJS.WritableStream, input: CommandSpec["input"]): Promise<void> {
  const source = typeof input === "object" ? createReadStream(input.file) : [input ?? ""];
  try {
    await pipeline(source, stdin);
  } catch (error) {
    // The tool stopped reading: its exit code tells why.
    if (!["EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
  }
}

async function collect(stream: Readable, chunks: Buffer[]): Promise<void> {
  let size = 0;
  for await (const chunk of stream) {
    size += (chunk as Buffer).length;
    if (size > MAX_OUTPUT) throw new CausedError("source_too_large", `a listing is over ${MAX_OUTPUT} bytes`);
    chunks.push(chunk as Buffer);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function missingTool(command: string, error: NodeJS.ErrnoException): Error {
  if (error.code !== "ENOENT") return error;
  const packages: Record<string, string> = { xz: "xz-utils" };
  const remedy = `apt-get install ${packages[command] ?? command}`;
  return new CausedError("source_unavailable", `${command} is not on this machine; remedy: ${remedy}`, {
    cause: error,
  });
}
