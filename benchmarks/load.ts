import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { canonicalJson } from "./canonical-json.ts";
import { nearest } from "./nearest.ts";
import { type Raw, readSuiteFile, refuseDuplicates } from "./read-suite-file.ts";
import { registeredSuite, SUITE_NAMES } from "./registry.ts";
import type { Suite, Task } from "./schema.ts";
import { UsageError } from "./usage-error.ts";

export interface LoadedSuite {
  /** Paths of gold files and directory sources are absolute. */
  suite: Suite;
  file: string;
  /**
   * sha256 over what the suite says and the content of its gold files; the same for JSON and YAML, whatever the
   * layout. A selection's digest covers the tasks that it picks and no others.
   */
  digest: string;
  /** The task's gold ids, in the file's order; null where the suite gives only their number or nothing. */
  goldIds(task: Task): Promise<readonly string[] | null>;
}

interface Content {
  suite: Suite;
  raw: Raw;
}

/**
 * Loads a registered suite by its name, or a JSON or YAML file of the user's.
 * Throws `UsageError`: one line that names file, key and remedy.
 */
export async function loadSuite(nameOrFile: string): Promise<LoadedSuite> {
  const file = suiteFile(nameOrFile, process.cwd());
  const { suite, raw } = await readContent(file, []);
  return { suite, file, digest: await digestOf(file, suite, raw), goldIds: (task) => goldIds(file, task) };
}

function suiteFile(nameOrFile: string, folder: string): string {
  const registered = registeredSuite(nameOrFile);
  if (registered !== null) return registered;
  if (/[/\\]|\.(json|ya?ml)$/.test(nameOrFile)) return resolve(folder, nameOrFile);
  throw new UsageError(
    `unknown suite ${nameOrFile}; nearest: ${nearest(nameOrFile, SUITE_NAMES).join(", ")} (or give a .json or .yaml file)`,
  );
}

async function readContent(file: string, selectedBy: readonly string[]): Promise<Content> {
  if (selectedBy.includes(file)) {
    throw new UsageError(`${file}: from: leads back to this file; name a suite that holds the tasks`);
  }
  const read = await readSuiteFile(file);
  if (read.kind === "suite") return { suite: withAbsolutePaths(read.suite, dirname(file)), raw: read.raw };
  const { from, tasks: ids, ...own } = read.selection;
  const base = await readContent(suiteFileOf(file, from), [...selectedBy, file]);
  refuseDuplicates(file, ids);
  const picked = ids.map((id, index) => pick(file, id, index, from, base));
  return {
    suite: {
      ...base.suite,
      ...own,
      notes: [...base.suite.notes, ...own.notes],
      tasks: picked.map((p) => p.task),
    },
    raw: { ...base.raw, ...read.raw, tasks: picked.map((p) => p.raw) },
  };
}

function suiteFileOf(file: string, from: string): string {
  try {
    return suiteFile(from, dirname(file));
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${file}: from: ${error.message}`, { cause: error });
    throw error;
  }
}

function pick(
  file: string,
  id: string,
  index: number,
  from: string,
  base: Content,
): { task: Task; raw: unknown } {
  const at = base.suite.tasks.findIndex((task) => task.id === id);
  const task = base.suite.tasks[at];
  if (task !== undefined) return { task, raw: base.raw.tasks[at] };
  const names = nearest(
    id,
    base.suite.tasks.map((other) => other.id),
  );
  throw new UsageError(`${file}: tasks[${index}]: ${id} is not in ${from}; nearest: ${names.join(", ")}`);
}

function withAbsolutePaths(suite: Suite, folder: string): Suite {
  const tasks = suite.tasks.map((task) => ({
    ...task,
    source:
      task.source.kind === "directory"
        ? { ...task.source, path: resolve(folder, task.source.path) }
        : task.source,
    gold: task.gold && "file" in task.gold ? { file: resolve(folder, task.gold.file) } : task.gold,
  }));
  return { ...suite, tasks };
}

async function digestOf(file: string, suite: Suite, raw: Raw): Promise<string> {
  const hash = createHash("sha256").update(canonicalJson(raw));
  for (const task of suite.tasks) {
    if (task.gold && "file" in task.gold) {
      const content = await readGold(file, task, task.gold.file);
      hash.update(`\n${task.id} ${createHash("sha256").update(content).digest("hex")}`);
    }
  }
  return hash.digest("hex");
}

async function goldIds(file: string, task: Task): Promise<readonly string[] | null> {
  if (task.gold === null || "count" in task.gold) return null;
  if ("ids" in task.gold) return task.gold.ids;
  const content = await readGold(file, task, task.gold.file);
  // Test ids may hold any other character that Unicode calls a line break.
  const ids = content
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  if (ids.length === 0) {
    throw new UsageError(
      `${task.gold.file}: holds no test id; give one a line, or remove the gold key of ${task.id}`,
    );
  }
  return ids;
}

async function readGold(file: string, task: Task, gold: string): Promise<Buffer> {
  try {
    return await readFile(gold);
  } catch (error) {
    throw new UsageError(
      `${file}: task ${task.id}: gold.file: ${gold} can't be read (${(error as NodeJS.ErrnoException).code}); check the path`,
      { cause: error },
    );
  }
}
