import { constants, createReadStream, watch } from "node:fs";
import { chmod, copyFile, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ENVIRONMENT, environmentBlock } from "../common/environment.ts";
import { safeName } from "../common/names.ts";
import { Refused } from "../common/refused.ts";
import type { ExecEnd, ExecSpec, ExecStatus, Patience, Stream } from "../driver.ts";
import { control } from "./control.ts";
import type { SandboxFolder } from "./folders.ts";
import type { IdMap } from "./id-map.ts";
import { giveToInit } from "./keeper.ts";
import { needSpec } from "./spec.ts";

/** Writes the command's folder and tells init. A folder that has a claim was started before: nothing happens then. */
export async function startCommand(sandbox: SandboxFolder, exec: ExecSpec, map: IdMap): Promise<void> {
  const folder = sandbox.exec(exec.id);
  const { spec } = await needSpec(sandbox);
  if (!(await isFile(join(folder, "claim")))) {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await giveToInit(folder, map);
    await Promise.all([
      write(folder, "command", exec.command),
      write(folder, "cwd", exec.cwd),
      write(folder, "limits", `${exec.seconds} ${Math.floor(exec.outputBytes)}`),
      write(
        folder,
        "environment",
        environmentBlock({ ...ENVIRONMENT, ...spec.environment, ...exec.environment }),
      ),
      exec.stdin === null ? undefined : writeStdin(folder, exec.stdin),
    ]);
  }
  await control(sandbox, ["exec", safeName(exec.id), safeName(exec.root)]);
}

export async function pollCommand(
  sandbox: SandboxFolder,
  execId: string,
  patience?: Patience,
): Promise<ExecStatus> {
  const status = await statusOf(sandbox, execId);
  if (status.state === "ended" || patience === undefined) return status;
  await exitWritten(sandbox.exec(execId), patience);
  return statusOf(sandbox, execId);
}

async function statusOf(sandbox: SandboxFolder, execId: string): Promise<ExecStatus> {
  const folder = sandbox.exec(execId);
  const alive = (await readEnd(folder)) === null && (await isAlive(sandbox, execId));
  // Looked for again after init was asked: it may have ended in between.
  const end = await readEnd(folder);
  const [stdoutBytes, stderrBytes] = await Promise.all([
    size(join(folder, "stdout")),
    size(join(folder, "stderr")),
  ]);
  if (end !== null) return { state: "ended", ...end, stdoutBytes, stderrBytes };
  const claim = await stat(join(folder, "claim")).catch(missing);
  if (claim === null) throw new Error(`command ${execId} was never started in ${sandbox.home}`);
  const seconds = Math.max(0, (Date.now() - claim.mtimeMs) / 1000);
  if (alive) return { state: "running", seconds, stdoutBytes, stderrBytes };
  return { state: "ended", end: "lost", exit: null, seconds, stdoutBytes, stderrBytes };
}

/** Ends the command's processes, daemons that it left behind included, and waits for it. */
export async function stopCommand(sandbox: SandboxFolder, execId: string): Promise<void> {
  try {
    await control(sandbox, ["stop", safeName(execId)]);
  } catch (error) {
    // Its supervisor is gone: nothing of it lives.
    if (error instanceof Refused) return;
    throw error;
  }
  for (let wait = 10; await isAlive(sandbox, execId); wait = Math.min(wait * 1.5, 250)) await sleep(wait);
}

export function openOutput(sandbox: SandboxFolder, execId: string, stream: Stream): Readable {
  return createReadStream(join(sandbox.exec(execId), stream));
}

async function isAlive(sandbox: SandboxFolder, execId: string): Promise<boolean> {
  try {
    await control(sandbox, ["alive", safeName(execId)]);
    return true;
  } catch (error) {
    if (error instanceof Refused && error.answer === "gone") return false;
    throw error;
  }
}

async function readEnd(
  folder: string,
): Promise<{ end: ExecEnd; exit: number | null; seconds: number } | null> {
  const text = await readFile(join(folder, "exit"), "utf8").catch(missing);
  return text === null ? null : (JSON.parse(text) as { end: ExecEnd; exit: number | null; seconds: number });
}

/** Resolves when the command's exit file is written, at the latest after the wait: its supervisor may have died. */
function exitWritten(folder: string, { waitMs, signal }: Patience): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (problem?: unknown) => {
      watcher.close();
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if (problem === undefined) resolve();
      else reject(problem);
    };
    const abort = () => end(signal?.reason);
    const timer = setTimeout(() => end(), waitMs);
    const watcher = watch(folder, (_event, name) => name === "exit" && end());
    watcher.on("error", end);
    signal?.addEventListener("abort", abort);
    // It may have been written before the watching began.
    readEnd(folder).then((found) => found !== null && end(), end);
    if (signal?.aborted) abort();
  });
}

async function write(folder: string, name: string, content: string): Promise<void> {
  const temporary = join(folder, `${name}.${process.pid}.tmp`);
  await writeFile(temporary, content, { mode: 0o644 });
  await rename(temporary, join(folder, name));
}

async function writeStdin(folder: string, source: string): Promise<void> {
  const temporary = join(folder, `stdin.${process.pid}.tmp`);
  await copyFile(source, temporary, constants.COPYFILE_FICLONE);
  await chmod(temporary, 0o644);
  await rename(temporary, join(folder, "stdin"));
}

async function size(path: string): Promise<number> {
  return (await stat(path).catch(missing))?.size ?? 0;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(missing)) !== null;
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
