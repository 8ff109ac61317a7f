import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import { initBinary } from "../common/init-binary.ts";
import { safeName } from "../common/names.ts";
import { Refused } from "../common/refused.ts";
import type { SandboxDriver } from "../driver.ts";
import { canMountVolumes, localCapabilities } from "./capabilities.ts";
import { openOutput, pollCommand, startCommand, stopCommand } from "./commands.ts";
import { control } from "./control.ts";
import { type SandboxFolder, sandboxesFolder, sandboxFolder } from "./folders.ts";
import { idMap } from "./id-map.ts";
import { createSandbox, destroySandbox, finishRemovals } from "./keeper.ts";
import { readOutput } from "./output.ts";
import { readSpec, type StoredSpec } from "./spec.ts";
import { getTar, putTar } from "./transfer.ts";

export interface LocalDriverOptions {
  /** Holds the sandboxes and the compiled init; the same for all workers of this host. */
  stateFolder: string;
  /** Name of this machine in the sandboxes' references. */
  host: string;
}

/**
 * Sandboxes of Linux namespaces over a root file system folder, without an engine or a daemon.
 * Every sandbox is a folder under `<stateFolder>/sandboxes` with a keeper process of its own: any worker process can
 * take it over from the files alone. Throws CausedError `sandbox_lost` for a sandbox that is gone, `capacity` (with
 * the remedy) when this machine can't make one.
 */
export function localDriver(options: LocalDriverOptions): SandboxDriver {
  const stateFolder = resolve(options.stateFolder);
  const at = (ref: SandboxRef): SandboxFolder => sandboxFolder(stateFolder, ref.id);
  const reference = (id: string): SandboxRef => ({ driver: "local", id, host: options.host });
  const ask = async (ref: SandboxRef, ...words: string[]) => {
    const [verb = "", ...names] = words;
    await control(at(ref), [verb, ...names.map(safeName)]);
  };
  const driver: SandboxDriver = {
    name: "local",
    capabilities: async () => localCapabilities(idMap()),
    async create(spec) {
      const map = idMap();
      const making = { map, binary: await initBinary(stateFolder), volume: canMountVolumes(map) };
      await createSandbox(sandboxFolder(stateFolder, spec.id), spec, making);
      return reference(spec.id);
    },
    start: (ref, exec) => startCommand(at(ref), exec, idMap()),
    poll: (ref, execId, patience) => pollCommand(at(ref), execId, patience),
    read: (ref, execId, stream, size) => readOutput(at(ref), execId, stream, size),
    output: async (ref, execId, stream) => openOutput(at(ref), execId, stream),
    stop: (ref, execId) => stopCommand(at(ref), execId),
    put: (ref, root, path, tar) => putTar({ driver, ref, sandbox: at(ref), root, path }, tar),
    get: (ref, root, path) => getTar({ driver, ref, sandbox: at(ref), root, path }),
    readFile: (ref, root, path, limit) => readSandboxFile(at(ref), root, path, limit),
    push: (ref, root, frame) => ask(ref, "push", root, frame),
    pop: (ref, root, frame) => ask(ref, "pop", root, frame),
    fork: (ref, root, fork) => ask(ref, "fork", root, fork),
    drop: (ref, fork) => ask(ref, "drop", fork),
    network: (ref, state) => ask(ref, "network", state),
    async usage(ref) {
      const { words } = await control(at(ref), ["usage"]);
      const [disk, memory, kills] = words.map(Number);
      if (disk === undefined || memory === undefined || kills === undefined) {
        throw new CausedError("sandbox_lost", `sandbox ${ref.id} gives no usage`);
      }
      return { diskBytes: disk, memoryPeakBytes: memory < 0 ? null : memory, oomKills: kills };
    },
    async destroy(ref) {
      await destroySandbox(at(ref), { stateFolder, map: idMap(), binary: await initBinary(stateFolder) });
    },
    async list() {
      await finishRemovals(stateFolder);
      const stored = await listSpecs(stateFolder);
      return stored.map(({ spec, createdAt }) => ({
        sandbox: reference(spec.id),
        owner: spec.owner,
        createdAt,
      }));
    },
  };
  return driver;
}

async function readSandboxFile(
  sandbox: SandboxFolder,
  root: string,
  path: string,
  limit: number,
): Promise<Buffer | null> {
  if (/[\t\n\0]/.test(path)) throw new Error(`path ${JSON.stringify(path)} has a tab or line break`);
  try {
    const { words, body } = await control(sandbox, ["file", safeName(root), String(limit), path]);
    if (body.length !== Number(words[0])) throw new Error(`${path} changed while it was read`);
    return body;
  } catch (error) {
    if (error instanceof Refused && error.answer === "missing") return null;
    throw error;
  }
}

async function listSpecs(stateFolder: string): Promise<StoredSpec[]> {
  const folder = sandboxesFolder(stateFolder);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const specs = names
    .filter((name) => !name.startsWith("."))
    .map((name) =>
      readSpec({ home: join(folder, name), spec: join(folder, name, "spec.json") } as SandboxFolder),
    );
  return (await Promise.all(specs)).filter((stored) => stored !== null);
}
