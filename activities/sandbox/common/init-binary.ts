import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { CausedError } from "../../errors.ts";
import { onceEach } from "../../once.ts";
import { exists } from "../../store/exists.ts";
import { withLock } from "../../store/lock.ts";

const SOURCES = join(import.meta.dirname, "..", "init");
/** Where an image of the worker brings it along, so that it needs no compiler. */
const BROUGHT = join(SOURCES, "built");
const FLAGS = ["-static", "-O2", "-Wall", "-Wextra", "-Werror", "-s"];
const REMEDY = "Remedy: apt-get install gcc libc6-dev";

/** Path of the compiled sandbox-init of these sources; compiled on first need, once per state folder and content. */
export const initBinary = onceEach(getOrBuild);

async function getOrBuild(stateFolder: string): Promise<string> {
  const names = (await readdir(SOURCES)).filter((name) => /\.[ch]$/.test(name)).sort();
  const hash = createHash("sha256").update(JSON.stringify([process.arch, FLAGS]));
  for (const name of names) hash.update(`${name}\n`).update(await readFile(join(SOURCES, name)));
  const name = `sandbox-init-${hash.digest("hex").slice(0, 16)}`;
  if (await exists(join(BROUGHT, name))) return join(BROUGHT, name);
  const tools = join(stateFolder, "tools");
  const path = join(tools, name);
  if (await exists(path)) return path;
  await mkdir(tools, { recursive: true });
  return withLock(`${path}.lock`, async () => {
    if (!(await exists(path)))
      await compile(
        names.filter((name) => name.endsWith(".c")),
        path,
      );
    return path;
  });
}

async function compile(sources: string[], path: string): Promise<void> {
  const partial = `${path}.${randomBytes(4).toString("hex")}.tmp`;
  const result = await execa("cc", [...FLAGS, "-o", partial, ...sources], { cwd: SOURCES, reject: false });
  if (result.code === "ENOENT")
    throw new CausedError("capacity", `no C compiler (cc) for sandbox-init. ${REMEDY}`);
  if (result.failed) {
    throw new CausedError(
      "capacity",
      `sandbox-init does not compile: ${result.stderr.slice(0, 500)}. ${REMEDY}`,
    );
  }
  await chmod(partial, 0o755);
  await rename(partial, path);
}
