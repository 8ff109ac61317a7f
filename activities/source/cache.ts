import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline, type Readable, Transform } from "node:stream";
import type { SourceRef } from "../../workflows/types.ts";
import { CausedError } from "../errors.ts";

/** What the cache keeps beside a repository's tar file. */
export interface CachedSource {
  ref: Omit<SourceRef, "notes">;
  /** sha256 of the tar file. */
  tarDigest: string;
  /** The source as the suite names it, without credentials. */
  source: unknown;
  /** What was left out or is missing, for readers of the results. */
  notes: readonly string[];
  fetchedAt: string;
}

const TAR = "repository.tar";
const ABOUT = "source.json";

function entryFolder(stateFolder: string, digest: string): string {
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error(`not a source digest: ${digest}`);
  return join(stateFolder, "sources", "entries", digest.slice(0, 2), digest);
}

/** The entry, or null when it is not there or not whole. */
export async function readEntry(stateFolder: string, digest: string): Promise<CachedSource | null> {
  const folder = entryFolder(stateFolder, digest);
  try {
    const about = JSON.parse(await readFile(join(folder, ABOUT), "utf8")) as CachedSource;
    const { size } = await stat(join(folder, TAR));
    return size === about.ref.bytes ? about : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Publishes the finished tar file `tar` under the digest, all at once: a reader or a crash never sees half an entry.
 * Where a whole one has appeared meanwhile, that one stays.
 */
export async function publishEntry(
  stateFolder: string,
  tar: string,
  about: Omit<CachedSource, "ref" | "tarDigest" | "fetchedAt"> & { digest: string; revision: string | null },
): Promise<CachedSource> {
  const { digest, revision, source, notes } = about;
  const { size: bytes } = await stat(tar);
  const ref = { digest, revision, bytes };
  const entry = {
    ref,
    tarDigest: await digestOfFile(tar),
    source,
    notes,
    fetchedAt: new Date().toISOString(),
  };
  const draft = `${tar}.entry`;
  await mkdir(draft);
  await rename(tar, join(draft, TAR));
  await writeFile(join(draft, ABOUT), `${JSON.stringify(entry, null, 2)}\n`);
  for (const name of [TAR, ABOUT, "."]) await flush(join(draft, name));
  const target = entryFolder(stateFolder, digest);
  await mkdir(dirname(target), { recursive: true });
  const published = await renameInto(draft, target);
  if (published) return entry;
  const present = await readEntry(stateFolder, digest);
  if (present !== null) return present;
  await dropEntry(stateFolder, digest);
  await rename(draft, target);
  return entry;
}

/**
 * One tar stream of a fetched repository, to be unpacked at /workspace/repo. The stream fails at its end, and the
 * entry is dropped so that the next fetch makes it anew, when the bytes on disk are not those that were published.
 */
export async function openTar(
  stateFolder: string,
  ref: Pick<SourceRef, "digest" | "bytes">,
): Promise<Readable> {
  const about = await readEntry(stateFolder, ref.digest);
  if (about === null || about.ref.bytes !== ref.bytes) {
    throw new CausedError(
      "source_unavailable",
      `source ${ref.digest}: not in this machine's cache; fetch it again`,
    );
  }
  const hash = createHash("sha256");
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      if (hash.digest("hex") === about.tarDigest) return done();
      const failure = new CausedError(
        "source_unavailable",
        `source ${ref.digest}: damaged in the cache; dropped`,
      );
      dropEntry(stateFolder, ref.digest).then(() => done(failure), done);
    },
  });
  const file = createReadStream(join(entryFolder(stateFolder, ref.digest), TAR), {
    highWaterMark: 1024 * 1024,
  });
  // A failure destroys `checked` with it, where the consumer meets it.
  return pipeline(file, checked, () => {});
}

/** Moved aside first, so that no reader sees it half removed. */
async function dropEntry(stateFolder: string, digest: string): Promise<void> {
  const folder = entryFolder(stateFolder, digest);
  const aside = join(stateFolder, "sources", "staging", `${digest}.${randomBytes(6).toString("hex")}`);
  await mkdir(dirname(aside), { recursive: true });
  try {
    await rename(folder, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}

async function renameInto(draft: string, target: string): Promise<boolean> {
  try {
    await rename(draft, target);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  return hash.digest("hex");
}

async function flush(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * A new folder for one fetch. Whoever holds the lock of `key` is alone with it, so that any earlier folder of that key
 * is what a killed fetch left.
 */
export async function makeStaging(stateFolder: string, key: string): Promise<string> {
  const staging = join(stateFolder, "sources", "staging");
  await mkdir(staging, { recursive: true });
  for (const name of await readdir(staging)) {
    if (name.startsWith(`${key}.`)) await removeStaging(join(staging, name));
  }
  const folder = join(staging, `${key}.${randomBytes(6).toString("hex")}`);
  await mkdir(folder);
  return folder;
}

/** A fetch that was killed may leave a git that writes for a moment longer. */
export async function removeStaging(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
