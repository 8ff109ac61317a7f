import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { sandboxFolder } from "../../activities/sandbox/local/folders.ts";

/** What the host has of a local sandbox, seen from outside. */
export interface HostView {
  home: string;
  keeper: number;
  init: number;
  /** Host pids of all that runs in it, init included. */
  processes(): number[];
  /** Loop devices, control groups and mounts whose name has the sandbox's folder or id in it. */
  traces(): string[];
}

export function hostView(stateFolder: string, id: string): HostView {
  const { home } = sandboxFolder(stateFolder, id);
  const [keeper, init] = ["keeper", "ready"].map((name) =>
    Number(readFileSync(join(home, name), "utf8").split(" ")[0]),
  );
  if (!keeper || !init) throw new Error(`${home} names no processes`);
  const namespace = readlinkSync(`/proc/${init}/ns/pid`);
  const groups = readFileSync(join(home, "cgroups"), "utf8").split("\n").filter(Boolean);
  return {
    home,
    keeper,
    init,
    processes: () => pids().filter((pid) => link(`/proc/${pid}/ns/pid`) === namespace),
    traces: () => [
      ...loopFiles().filter((file) => file.startsWith(home)),
      ...groups.filter((group) => list(group).length > 0),
      ...readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .filter((line) => line.includes(home)),
    ],
  };
}

export function isRunning(pid: number): boolean {
  const stat = text(`/proc/${pid}/stat`);
  return stat !== null && !/\) [ZX] /.test(stat);
}

export function pids(): number[] {
  return list("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isRunning);
}

/** Host pids of processes with this name (comm) among the given ones. */
export function named(processes: number[], name: string): number[] {
  return processes.filter((pid) => text(`/proc/${pid}/comm`)?.trim() === name);
}

/** Empty when it is gone; the kernel adds " (deleted)" to a removed folder. */
export function workingFolder(pid: number): string {
  return link(`/proc/${pid}/cwd`) ?? "";
}

export function childrenOf(parent: number): number[] {
  return pids().filter((pid) => text(`/proc/${pid}/stat`)?.split(") ")[1]?.split(" ")[1] === String(parent));
}

function loopFiles(): string[] {
  return list("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .map((name) => text(`/sys/block/${name}/loop/backing_file`) ?? "");
}

function list(folder: string): string[] {
  return ignoreMissing(() => readdirSync(folder)) ?? [];
}

function text(path: string): string | null {
  return ignoreMissing(() => readFileSync(path, "utf8"));
}

function link(path: string): string | null {
  return ignoreMissing(() => readlinkSync(path));
}

function ignoreMissing<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
