import { readdir, readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { folderName } from "../../benchmarks/cells.ts";
import type { Task } from "../../benchmarks/schema.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";

/**
 * What `--script` names: the script's text by task id, or by `*` when one serves all. Throws UsageError when it can't be
 * read or has nothing for any of the tasks.
 */
export async function readScripts(
  given: string,
  tasks: readonly Task[],
): Promise<Readonly<Record<string, string>>> {
  const path = given.startsWith("~/") ? given.replace("~", homedir()) : given;
  const unreadable = (what: string) => (error: NodeJS.ErrnoException) => {
    throw new UsageError(`--script ${what}: can't be read (${error.code}); name a file or folder that can`);
  };
  const found = await stat(path).catch(unreadable(given));
  if (!found.isDirectory()) return { "*": await readFile(path, "utf8").catch(unreadable(given)) };
  const files = new Set(await readdir(path).catch(unreadable(given)));
  const scripts: Record<string, string> = {};
  for (const task of tasks) {
    const file = `${folderName(task.id)}.sh`;
    if (!files.has(file)) continue;
    scripts[task.id] = await readFile(join(path, file), "utf8").catch(unreadable(join(given, file)));
  }
  if (Object.keys(scripts).length === 0) {
    throw new UsageError(`--script ${given}: no <task>.sh for any selected repository (a slash becomes __)`);
  }
  return scripts;
}
