import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import { Refused } from "../common/refused.ts";
import { type CallInput, type ContainerEngine, TransportFault } from "./engine.ts";
import { parseAnswer } from "./frame.ts";
import { call } from "./layout.ts";

/** How long a way that does not answer is tried again before it counts as lost. */
const PATIENCE_MS = 45_000;
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;

interface CallOptions {
  input?: CallInput;
  /** In whose container, where the sandbox has several; without it the main one's. */
  root?: string;
  /** Ends the waiting (its reason is thrown), not what was asked for. */
  signal?: AbortSignal;
}

/** One call to the sandbox, repeated while its answer is lost: every call may be made twice with the same effect. */
export type Caller = (ref: SandboxRef, words: readonly string[], options?: CallOptions) => Promise<Buffer>;

/**
 * Throws Refused when the sandbox says no, CausedError when it is gone or can't be reached for long.
 */
export function caller(engine: ContainerEngine): Caller {
  return async (ref, words, options = {}) => {
    const { signal } = options;
    let end: number | null = null;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        return await once(engine, ref, words, options);
      } catch (error) {
        if (!(error instanceof TransportFault)) throw error;
        // Counted from the first fault: that a connection is dead may take longer to show than all this patience.
        end ??= Date.now() + PATIENCE_MS;
        if (Date.now() + pause > end) throw unreachable(ref, words, error);
      }
      await sleep(pause, undefined, signal ? { signal } : {});
    }
  };
}

async function once(
  engine: ContainerEngine,
  ref: SandboxRef,
  words: readonly string[],
  { input, signal, root }: CallOptions,
): Promise<Buffer> {
  const answer = parseAnswer(
    await unlessAborted(engine.call(ref, call(...words), input ?? null, root), signal),
  );
  if (answer.status === "ok") return answer.body;
  const said = answer.body.toString();
  if (answer.status === "refused") throw new Refused(words.join(" "), said);
  throw new TransportFault(`${words[0]}: ${said}`);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function unreachable(ref: SandboxRef, words: readonly string[], fault: TransportFault): CausedError {
  const message = `sandbox ${ref.id} can't be reached for ${PATIENCE_MS / 1000} s (${words[0]}): ${fault.message}`;
  return new CausedError(fault.failure, message, { cause: fault });
}

/** One request of the sandbox's control socket: the words after `ok`. Throws Refused with what else it answers. */
export async function askControl(
  calls: Caller,
  ref: SandboxRef,
  words: readonly string[],
  root?: string,
): Promise<string[]> {
  const options = root === undefined ? {} : { root };
  const line = (await calls(ref, ["ask", ...words], options)).toString().trimEnd();
  const [first, ...rest] = line.split(" ");
  if (first === "ok") return rest;
  throw new Refused(words.join(" "), line.replace(/^error /, ""));
}
