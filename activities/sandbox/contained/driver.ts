import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import { safeName } from "../common/names.ts";
import { Refused } from "../common/refused.ts";
import type { SandboxDriver, SandboxSpec } from "../driver.ts";
import { askControl, type Caller, caller } from "./calls.ts";
import { openOutput, pollCommand, readOutput, startCommand, stopCommand } from "./commands.ts";
import type { ContainerEngine, EngineFrames } from "./engine.ts";
import { beginSandbox } from "./inside.ts";
import { getTar, putTar, readSandboxFile } from "./transfer.ts";

/**
 * Sandboxes in the containers of an engine. All of their state is in the container: any worker takes them over. Throws
 * CausedError `sandbox_lost` for one that is gone or can't be reached, and what the engine throws.
 */
export function containedDriver(engine: ContainerEngine): SandboxDriver {
  const calls = caller(engine);
  const frames = async (ref: SandboxRef) => (await engine.frames?.(ref)) ?? layersOf(calls, ref);
  const driver: SandboxDriver = {
    name: engine.name,
    capabilities: () => engine.capabilities(),
    create: (spec, signal) => createSandbox(engine, calls, spec, signal),
    start: (ref, exec) => startCommand(calls, ref, { ...exec, outputBytes: Math.max(1, exec.outputBytes) }),
    poll: (ref, execId, patience) => pollCommand(calls, ref, execId, patience),
    read: (ref, execId, stream, size) => readOutput({ calls, ref, execId, stream }, size),
    output: async (ref, execId, stream) => openOutput({ calls, ref, execId, stream }),
    stop: (ref, execId) => stopCommand(calls, ref, execId),
    put: (ref, root, path, tar) => putTar({ driver, calls, ref, root, path }, tar),
    get: (ref, root, path) => getTar({ driver: wholeOutput(driver, calls), calls, ref, root, path }),
    readFile: (ref, root, path, limit) => readSandboxFile({ driver, calls, ref, root, path }, limit),
    push: async (ref, root, frame) => (await frames(ref)).push(safeName(root), safeName(frame)),
    pop: async (ref, root, frame) => (await frames(ref)).pop(safeName(root), safeName(frame)),
    fork: async (ref, root, fork) => (await frames(ref)).fork(safeName(root), safeName(fork)),
    drop: async (ref, fork) => (await frames(ref)).drop(safeName(fork)),
    network: (ref, state) => engine.network(ref, state),
    async usage(ref) {
      const [disk = 0, memory = -1, kills = 0] = (await askControl(calls, ref, ["usage"])).map(Number);
      const beside = await (await frames(ref)).bytes();
      return { diskBytes: disk + beside, memoryPeakBytes: memory < 0 ? null : memory, oomKills: kills };
    },
    destroy: (ref) => engine.destroy(ref),
    list: () => engine.list(),
  };
  return driver;
}

/** Frames that the sandbox's own init keeps; it says so where it has none. */
function layersOf(calls: Caller, ref: SandboxRef): EngineFrames {
  const ask = async (...words: string[]) => {
    await askControl(calls, ref, words);
  };
  return {
    push: (root, frame) => ask("push", root, frame),
    pop: (root, frame) => ask("pop", root, frame),
    fork: (root, fork) => ask("fork", root, fork),
    drop: (fork) => ask("drop", fork),
    bytes: async () => 0,
  };
}

/** Lets a command's output 0 mean what the sandbox's disk holds, which only the sandbox knows. */
function wholeOutput(driver: SandboxDriver, calls: Caller): SandboxDriver {
  return { ...driver, start: (ref, exec) => startCommand(calls, ref, exec) };
}

async function createSandbox(
  engine: ContainerEngine,
  calls: Caller,
  spec: SandboxSpec,
  signal?: AbortSignal,
): Promise<SandboxRef> {
  const provided = await engine.create(spec, signal);
  try {
    await beginSandbox(calls, spec, provided);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // PID 1 has ended with it: nothing of this container can be used.
    await engine.destroy(provided.sandbox);
    throw new CausedError("capacity", `cannot start a sandbox: ${error.answer}`, { cause: error });
  }
  return provided.sandbox;
}

/** `network` of an engine whose PID 1 switches the network itself (Provided.network `inside`). */
export async function insideNetwork(
  engine: ContainerEngine,
  ref: SandboxRef,
  state: "on" | "off",
  root?: string,
): Promise<void> {
  await askControl(caller(engine), ref, ["network", state], root);
}
