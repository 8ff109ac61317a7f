import { lstat, mkdir, readdir, realpath, stat, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readPlan } from "../../activities/store/sweep-folder.ts";
import { SWEEP_ID, type SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";

/** What an interrupted start leaves in a sweep's folder before the plan is there. */
const HALF_MADE = /^(\.lock$|gold$|suite\.json|sweep\.json)/;

/** Throws UsageError for what can't be a sweep's name: it is a folder's name and a workflow's id. */
export function checkSweepId(id: string): void {
  if (SWEEP_ID.test(id)) return;
  throw new UsageError(
    `sweep id ${JSON.stringify(id)}: must be 1 to 81 letters, digits, dots, underscores and dashes, and begin with a letter or digit`,
  );
}

export function sweepFolder(options: { state: string; out?: string }, id: string): string {
  return options.out === undefined ? namedFolder(options.state, id) : resolve(options.out);
}

export async function existingPlan(folder: string): Promise<SweepPlan | null> {
  const found = await stat(join(folder, "sweep.json")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  return found && readPlan(folder);
}

/** Throws UsageError unless the folder is a sweep's, an unfinished one, empty, or not there. */
export async function refuseForeign(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw new UsageError(`${folder}: can't be a sweep's folder (${error.code}); name another with --out`);
  });
  if (names.includes("sweep.json")) return;
  const foreign = names.find((name) => !HALF_MADE.test(name));
  if (foreign === undefined) return;
  throw new UsageError(
    `${folder}: holds ${foreign} and no sweep; name a new or empty folder with --out, or another --id`,
  );
}

/** Throws UsageError when the sweep's name already belongs to another folder. */
export async function refuseOtherPlace(state: string, id: string, folder: string): Promise<void> {
  const named = namedFolder(state, id);
  const there = await lstat(named).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (there === null) return;
  const [is, other] = await Promise.all([realOrItself(folder), realOrItself(named)]);
  if (is === other) return;
  throw new UsageError(`--out ${folder}: the sweep ${id} lies in ${other}; name that, or take another --id`);
}

/** A sweep whose folder is elsewhere (`--out`) gets a link under the state folder, so that its name alone finds it. */
export async function linkFolder(state: string, id: string, folder: string): Promise<void> {
  const named = namedFolder(state, id);
  if (named === folder) return;
  await mkdir(dirname(named), { recursive: true });
  try {
    await symlink(folder, named);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    await refuseOtherPlace(state, id, folder);
  }
}

function namedFolder(state: string, id: string): string {
  checkSweepId(id);
  return resolve(state, "sweeps", id);
}

async function realOrItself(path: string): Promise<string> {
  return realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return path;
    throw error;
  });
}
