import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import { writeFileAtomically } from "../../../results/atomic-file.ts";
import { ownIdentity, processIdentity } from "../../store/process-identity.ts";
import { type BaseRecipe, SCRATCH_LINK } from "./made.ts";
import { runTool } from "./tool.ts";
import type { BaseUnpacker } from "./unpack.ts";

/**
 * <folder>/<form>/<digest>/{root/,recipe.json}   complete by being there: it comes by one rename
 * <folder>/<form>/requests/<sha256 of the key>   the digest that a request led to
 * <folder>/<form>/partial-<pid>-<start>-…/       work of a live process, or left over
 */
export interface BaseCache {
  folder: string;
  unpacker: BaseUnpacker;
}

export interface CachedBase {
  digest: string;
  location: string;
  recipe: BaseRecipe;
}

/** The base that this request key led to; null when it has none, or none any more. */
export async function findByKey(cache: BaseCache, key: string): Promise<CachedBase | null> {
  const digest = await readText(requestFile(cache, key));
  return digest === null ? null : findByDigest(cache, digest.trim());
}

export async function findByDigest(cache: BaseCache, digest: string): Promise<CachedBase | null> {
  const recipe = await readText(join(home(cache), digest, "recipe.json"));
  if (recipe === null) return null;
  return { digest, location: join(home(cache), digest, "root"), recipe: JSON.parse(recipe) as BaseRecipe };
}

export async function rememberKey(cache: BaseCache, key: string, digest: string): Promise<void> {
  await writeFileAtomically(requestFile(cache, key), `${digest}\n`);
}

/** A folder of this process's own, for what is not complete. */
export async function partialFolder(cache: BaseCache): Promise<string> {
  const own = ownIdentity();
  const folder = join(home(cache), `partial-${own.pid}-${own.start}-${randomBytes(4).toString("hex")}`);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Moves `<partial>/staged/root` into place with its recipe, on disk before it counts. */
export async function complete(
  cache: BaseCache,
  partial: string,
  digest: string,
  recipe: BaseRecipe,
): Promise<void> {
  const staged = join(partial, "staged");
  await writeFile(join(staged, "recipe.json"), `${canonicalJson(recipe)}\n`);
  await runTool("sync", ["--file-system", staged], { remedy: "apt-get install coreutils" });
  try {
    await rename(staged, join(home(cache), digest));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // Another request led to the same content meanwhile.
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

export async function removePartial(cache: BaseCache, partial: string): Promise<void> {
  await cache.unpacker.remove(join(partial, "staged"));
  const scratch = await readlink(join(partial, SCRATCH_LINK)).catch(missing);
  if (scratch !== null) await cache.unpacker.remove(scratch);
  await rm(partial, { recursive: true, force: true });
}

/** Clears the work of processes that were killed in the middle. */
export async function removeLeftOver(cache: BaseCache): Promise<void> {
  for (const name of await readdir(home(cache))) {
    const [, pid, start] = /^partial-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || processIdentity(Number(pid))?.start === start) continue;
    await removePartial(cache, join(home(cache), name));
  }
}

export function lockPath(cache: BaseCache, key: string): string {
  return join(home(cache), "locks", sha256(key));
}

function requestFile(cache: BaseCache, key: string): string {
  return join(home(cache), "requests", sha256(key));
}

function home(cache: BaseCache): string {
  return join(cache.folder, cache.unpacker.form);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function readText(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch(missing);
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
