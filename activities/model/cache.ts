import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "../../benchmarks/canonical-json.ts";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { Receipt } from "./journal.ts";

export type CachedAnswer = Pick<Receipt, "outcome" | "usage" | "seconds">;

/**
 * Everything that an answer depends on: the endpoint, the whole request, and which repeat of its cell asks, so that
 * repeats stay samples of their own.
 */
export function cacheKey(endpoint: string, body: Record<string, unknown>, repeat: number): string {
  return createHash("sha256").update(canonicalJson({ endpoint, body, repeat })).digest("hex");
}

export async function readCache(folder: string, key: string): Promise<CachedAnswer | null> {
  try {
    return JSON.parse(await readFile(cacheFile(folder, key), "utf8")) as CachedAnswer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export async function writeCache(folder: string, key: string, answer: CachedAnswer): Promise<void> {
  await writeFileAtomically(cacheFile(folder, key), `${JSON.stringify(answer)}\n`);
}

function cacheFile(folder: string, key: string): string {
  return join(folder, "model-cache", key.slice(0, 2), `${key}.json`);
}
