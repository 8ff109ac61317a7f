import { spawn } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { writeFileAtomically } from "../../../results/atomic-file.ts";
import { CausedError } from "../../errors.ts";
import { exists } from "../../store/exists.ts";
import type { SandboxSpec } from "../driver.ts";
import { removeMapped } from "./base-unpack.ts";
import { control } from "./control.ts";
import { type SandboxFolder, sandboxesFolder } from "./folders.ts";
import { type IdMap, supervisorId } from "./id-map.ts";
import { checkMounts, keeperConfig, readSpec, writeSpec } from "./spec.ts";

const TRASH = ".trash-";
const READY_MS = 60_000;
/** The keeper's exit code when another keeper of the same sandbox is at work. */
const TAKEN = 3;
/** Nothing of the worker's environment goes further than its tools' search path. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Gets or makes the sandbox. Made by starting its keeper, which outlives this process; a creation that a killed worker
 * left half done is taken up where it stands. Throws CausedError `sandbox_lost` when it was there and has ended.
 */
export async function createSandbox(
  sandbox: SandboxFolder,
  spec: SandboxSpec,
  options: { binary: string; map: IdMap; volume: boolean },
): Promise<void> {
  const config = keeperConfig(sandbox, spec, options.map, options.volume);
  await checkMounts(spec, options.map);
  await mkdir(dirname(sandbox.home), { recursive: true, mode: 0o700 });
  await mkdir(join(sandbox.control, "exec"), { recursive: true, mode: 0o755 });
  await giveToInit(sandbox.control, options.map);
  await giveToInit(join(sandbox.control, "exec"), options.map);
  if ((await readSpec(sandbox)) === null) await writeSpec(sandbox, spec);
  let ready = await readText(join(sandbox.home, "ready"));
  if (ready === null) {
    await rm(join(sandbox.home, "failed"), { force: true });
    await writeFileAtomically(join(sandbox.home, "config"), config);
    ready = await startKeeper(sandbox, options.binary);
  }
  if (ready.trim().split(" ")[2] === "0") {
    throw new CausedError(
      "capacity",
      `sandbox ${spec.id}: the network helper does not start (see ${sandbox.home}/keeper.log). Remedy: apt-get install slirp4netns`,
    );
  }
  await control(sandbox, ["ping"]);
}

async function startKeeper(sandbox: SandboxFolder, binary: string): Promise<string> {
  const child = spawn(binary, ["keeper", sandbox.home], { detached: true, stdio: "ignore", env: { PATH } });
  let exit: number | string | null = null;
  child.on("error", (error) => {
    exit = error.message;
  });
  child.on("exit", (code, signal) => {
    exit = code ?? signal;
  });
  child.unref();
  const end = Date.now() + READY_MS;
  for (let wait = 4; Date.now() < end; wait = Math.min(wait * 1.5, 100)) {
    const ready = await readText(join(sandbox.home, "ready"));
    if (ready !== null) return ready;
    const problem = await readText(join(sandbox.home, "failed"));
    if (problem !== null) throw new CausedError("capacity", `cannot start a sandbox: ${problem}`);
    if (exit !== null && exit !== TAKEN) {
      throw new CausedError(
        "capacity",
        `cannot start a sandbox: its keeper ended with ${exit} (see ${sandbox.home}/keeper.log)`,
      );
    }
    await sleep(wait);
  }
  throw new CausedError(
    "capacity",
    `cannot start a sandbox: its keeper is not ready after ${READY_MS / 1000} s (see ${sandbox.home}/keeper.log)`,
  );
}

/** Ends the sandbox, whatever state it is in, and removes all of it. */
export async function destroySandbox(
  sandbox: SandboxFolder,
  options: { binary: string; map: IdMap; stateFolder: string },
): Promise<void> {
  const trash = join(dirname(sandbox.home), `${TRASH}${basename(sandbox.home)}`);
  // A removal that was killed half-way is finished by whoever asks again.
  if (await exists(trash)) await removeMapped(options.stateFolder, trash);
  if (!(await exists(sandbox.home))) return;
  const result = await execa(options.binary, ["destroy", sandbox.home], {
    reject: false,
    env: { PATH },
    extendEnv: false,
  });
  if (result.failed)
    throw new Error(`cannot end the sandbox in ${sandbox.home}: ${result.stderr || result.shortMessage}`);
  // Renamed first: what a kill in the middle leaves is never taken for a sandbox.
  try {
    await rename(sandbox.home, trash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await removeMapped(options.stateFolder, trash);
}

/** Finishes the removals that a kill interrupted and that nobody asks for again. */
export async function finishRemovals(stateFolder: string): Promise<void> {
  const folder = sandboxesFolder(stateFolder);
  const names = (await exists(folder)) ? await readdir(folder) : [];
  for (const name of names.filter((one) => one.startsWith(TRASH)))
    await removeMapped(stateFolder, join(folder, name));
}

/** Lets the sandbox's init write in the folder, and nobody else of the host: its parent is the user's alone. */
export async function giveToInit(folder: string, map: IdMap): Promise<void> {
  const owner = supervisorId(map);
  if (owner) await chown(folder, owner.user, owner.group);
  else await chmod(folder, 0o777);
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
