import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new, empty folder that is removed when the tests' process ends. */
export async function scratchFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
