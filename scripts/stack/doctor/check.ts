import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { execa } from "execa";

/** One thing a machine needs. `missing` stops a sweep, `warning` makes it worse or stops some. */
export interface Check {
  name: string;
  state: "ok" | "missing" | "warning";
  /** What was found, in a few words. */
  found: string;
  /** A command line that puts it right; null when there is none or nothing to put right. */
  remedy: string | null;
  /** Debian packages by which `doctor --fix` puts it right. */
  packages: string[];
}

export interface Machine {
  stateFolder: string;
  environment: NodeJS.ProcessEnv;
  root: boolean;
  /** A Temporal server is given, so that none need be started here. */
  temporalAddress: string | null;
}

/** Name of the check that the Temporal CLI is there, which is put right without packages. */
export const TEMPORAL = "Temporal";

export function ok(name: string, found: string): Check {
  return { name, state: "ok", found, remedy: null, packages: [] };
}

/** Something that packages bring. */
export function lacking(name: string, found: string, packages: string[]): Check {
  return { name, state: "missing", found, remedy: `apt-get install ${packages.join(" ")}`, packages };
}

export function wrong(
  name: string,
  state: "missing" | "warning",
  found: string,
  remedy: string | null,
): Check {
  return { name, state, found, remedy, packages: [] };
}

/** Path of a command; null when the search path has none. */
export async function which(command: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  for (const folder of (environment.PATH ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, command);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOENT" && code !== "EACCES" && code !== "ENOTDIR") throw error;
    }
  }
  return null;
}

/** Whether a command line succeeds, with the last line it wrote. */
export async function probe(
  command: string,
  args: readonly string[],
  options: { environment: NodeJS.ProcessEnv; input?: string; seconds?: number },
): Promise<{ works: boolean; said: string }> {
  const result = await execa(command, args, {
    env: options.environment,
    extendEnv: false,
    input: options.input ?? "",
    timeout: (options.seconds ?? 20) * 1000,
    reject: false,
    all: true,
  });
  const said = (result.all || result.shortMessage || "").trim().split("\n").at(-1) ?? "";
  return { works: !result.failed, said };
}
