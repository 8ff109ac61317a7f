import { createInterface } from "node:readline";
import { execa } from "execa";
import { CausedError } from "../../errors.ts";

export interface ToolOptions {
  /** The command line that installs the tool. */
  remedy: string;
  environment?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** For a tool that leaves its own children behind when it is killed: its whole process group ends with it. */
  group?: boolean;
  /** Called with each line of stderr. */
  line?: (line: string) => void;
}

const GROUP = ["sh", "-c", 'trap "kill -KILL 0" TERM; "$@" & wait $!', "sh"];
const TAIL_LINES = 3;
/** setpriv's exit code when there is no such command. */
const NO_COMMAND = 127;

/**
 * Runs a host tool that ends when this process does, even by kill -9. Returns its standard output (at most 64 MiB).
 * Throws CausedError `image_pull` with the last lines it wrote or, when the tool is missing, the remedy.
 */
export async function runTool(
  command: string,
  args: readonly string[],
  options: ToolOptions,
): Promise<string> {
  const tail: string[] = [];
  // PDEATHSIG is the only hold on a child that works after SIGKILL of its parent.
  const whole = options.group ? ["--pdeathsig", "TERM", ...GROUP] : ["--pdeathsig", "KILL"];
  const child = execa("setpriv", [...whole, command, ...args], {
    detached: options.group ?? false,
    env: { LC_ALL: "C.UTF-8", ...options.environment },
    stdin: "ignore",
    maxBuffer: 64 << 20,
    reject: false,
    ...(options.signal ? { cancelSignal: options.signal } : {}),
  });
  for await (const line of createInterface({ input: child.stderr })) {
    options.line?.(line);
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
  }
  const result = await child;
  if (!result.failed) return result.stdout;
  options.signal?.throwIfAborted();
  if (result.exitCode === NO_COMMAND) {
    throw new CausedError("image_pull", `${command} is missing. Remedy: ${options.remedy}`);
  }
  const end = result.exitCode ?? result.signal ?? result.shortMessage;
  throw new CausedError("image_pull", `${command} failed (${end}): ${tail.join(" · ")}`);
}
