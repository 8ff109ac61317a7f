import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pack } from "tar-stream";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { writeFileAtomically } from "../../../results/atomic-file.ts";

/** A tar of a sandbox's mounts, the n-th below the name `n`; the same files give the same bytes. */
export interface MountArchive {
  path: string;
  size: number;
  sha256: string;
  /** How many mounts are in it. */
  count: number;
}

interface Entry {
  /** In the archive. */
  name: string;
  path: string;
  kind: "file" | "directory" | "symlink";
  size: number;
  mode: number;
  changed: number;
}

const making = new Map<string, Promise<MountArchive>>();

/** Null for no mounts. Kept in the folder, and made anew when a file has changed. Throws UsageError for a missing source. */
export async function mountArchive(folder: string, sources: readonly string[]): Promise<MountArchive | null> {
  if (sources.length === 0) return null;
  const entries = (await Promise.all(sources.map((source, i) => entriesOf(source, String(i))))).flat();
  const key = createHash("sha256").update(JSON.stringify(entries)).digest("hex").slice(0, 32);
  const path = join(folder, `${key}.tar`);
  let archive = making.get(path);
  if (archive === undefined) {
    archive = getOrMake(folder, path, entries).then((made) => ({ ...made, count: sources.length }));
    making.set(path, archive);
    archive.catch(() => making.delete(path));
  }
  return archive;
}

async function getOrMake(
  folder: string,
  path: string,
  entries: Entry[],
): Promise<Omit<MountArchive, "count">> {
  const note = `${path}.json`;
  const known = await readFile(note, "utf8").catch(missing);
  if (known !== null) return { path, ...(JSON.parse(known) as { size: number; sha256: string }) };
  await mkdir(folder, { recursive: true });
  const partial = `${path}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const made = await writeTar(partial, entries);
    await rename(partial, path);
    await writeFileAtomically(note, JSON.stringify(made));
    return { path, ...made };
  } finally {
    await rm(partial, { force: true });
  }
}

async function writeTar(file: string, entries: Entry[]): Promise<{ size: number; sha256: string }> {
  const tar = pack();
  const hash = createHash("sha256");
  let size = 0;
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  const write = pipeline(Readable.from(tar), counted, createWriteStream(file, { mode: 0o644 }));
  const fill = async () => {
    for (const entry of entries) await addEntry(tar, entry);
    tar.finalize();
  };
  await Promise.all([write, fill().catch((error: Error) => tar.destroy(error))]);
  return { size, sha256: hash.digest("hex") };
}

async function addEntry(
  tar: ReturnType<typeof pack>,
  { name, path, kind, size, mode }: Entry,
): Promise<void> {
  const header = { name, mode, mtime: new Date(0), uid: 0, gid: 0 };
  if (kind === "directory") return void tar.entry({ ...header, type: "directory" });
  if (kind === "symlink")
    return void tar.entry({ ...header, type: "symlink", linkname: await readlink(path) });
  await new Promise<void>((resolve, reject) => {
    const target = tar.entry({ ...header, size }, (error) => (error ? reject(error) : resolve()));
    pipeline(createReadStream(path, size > 0 ? { end: size - 1 } : {}), target).catch(reject);
  });
}

/** Sorted by name. Only the source itself may be a link that is followed. */
async function entriesOf(source: string, name: string): Promise<Entry[]> {
  const info = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`mount source ${source}: ${error.code}. Remedy: give a file or folder that exists`);
  });
  return info.isDirectory() ? folderEntries(source, name) : [fileEntry(source, name, info)];
}

async function folderEntries(folder: string, name: string): Promise<Entry[]> {
  const { mtimeMs } = await stat(folder);
  const found: Entry[] = [{ name, path: folder, kind: "directory", size: 0, mode: 0o755, changed: mtimeMs }];
  for (const child of (await readdir(folder)).sort()) {
    const path = join(folder, child);
    const info = await lstat(path);
    if (info.isDirectory()) found.push(...(await folderEntries(path, `${name}/${child}`)));
    else if (info.isSymbolicLink()) {
      found.push({
        name: `${name}/${child}`,
        path,
        kind: "symlink",
        size: 0,
        mode: 0o777,
        changed: info.mtimeMs,
      });
    } else if (info.isFile()) found.push(fileEntry(path, `${name}/${child}`, info));
  }
  return found;
}

function fileEntry(path: string, name: string, info: { size: number; mode: number; mtimeMs: number }): Entry {
  // Readable by all users of the sandbox, whatever they may on this machine.
  const mode = (info.mode & 0o111) === 0 ? 0o644 : 0o755;
  return { name, path, kind: "file", size: info.size, mode, changed: info.mtimeMs };
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
