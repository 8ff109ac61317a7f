import { lutimes, realpath, symlink, unlink } from "node:fs/promises";
import { EARLIEST } from "./times.ts";

/** Joins a folder and a path given as a binary string (one character a byte). */
export function place(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, "latin1")]);
}

/**
 * Makes symbolic links (path → target) in the tree `root`, if their text stays inside; once all are there, those are
 * taken away again that lead outside by way of other links. What is left of a chain then leads to nothing.
 */
export async function makeLinks(
  root: string,
  links: ReadonlyMap<string, string>,
): Promise<{ made: string[]; dropped: string[] }> {
  const made: string[] = [];
  const dropped: string[] = [];
  const inside = [...links].filter(([path, target]) => !leaves(path, target));
  for (const [path, target] of links) if (leaves(path, target)) dropped.push(path);
  for (const [path, target] of inside) await symlink(Buffer.from(target, "latin1"), place(root, path));
  const realRoot = (await realpath(root, { encoding: "buffer" })).toString("latin1");
  for (const [path] of inside) {
    const link = place(root, path);
    if (await leadsInside(link, realRoot)) {
      await lutimes(link, EARLIEST, EARLIEST);
      made.push(path);
    } else {
      await unlink(link);
      dropped.push(path);
    }
  }
  return { made, dropped };
}

function leaves(path: string, target: string): boolean {
  if (target.startsWith("/") || target === "" || target.includes("\0")) return true;
  const stack = path.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") stack.push(part);
    else if (stack.pop() === undefined) return true;
  }
  return false;
}

async function leadsInside(link: Buffer, root: string): Promise<boolean> {
  try {
    const real = (await realpath(link, { encoding: "buffer" })).toString("latin1");
    return real === root || real.startsWith(`${root}/`);
  } catch (error) {
    // It leads to nothing or in circles: its text stays inside.
    if (["ENOENT", "ELOOP", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return true;
    throw error;
  }
}
