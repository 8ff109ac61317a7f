import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { writeFileAtomically } from "../../results/atomic-file.ts";

/**
 * Name of the state folder's own Temporal server as an owner of sandboxes. What makes it unlike any other is kept outside
 * the database's folder, whose loss it outlives; machine and path tell it from the server of a copied state folder.
 * Two calls at once may not be the first.
 */
export async function ownServerName(stateFolder: string, namespace: string): Promise<string> {
  const folder = resolve(stateFolder);
  const id = await keptId(join(folder, "stack"));
  const digest = createHash("sha256")
    .update(JSON.stringify([id, hostname(), folder, namespace]))
    .digest("hex");
  return `own-${digest.slice(0, 24)}`;
}

async function keptId(folder: string): Promise<string> {
  const file = join(folder, "server-id");
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const id = randomUUID();
  await mkdir(folder, { recursive: true });
  await writeFileAtomically(file, `${id}\n`);
  return id;
}
