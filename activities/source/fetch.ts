import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "../../benchmarks/canonical-json.ts";
import type { Source } from "../../benchmarks/schema.ts";
import { writeFileAtomically } from "../../results/atomic-file.ts";
import type { SourceRef } from "../../workflows/types.ts";
import { CausedError } from "../errors.ts";
import { withLock } from "../store/lock.ts";
import { type CachedSource, makeStaging, publishEntry, readEntry, removeStaging } from "./cache.ts";
import { type Limits, startLimits } from "./limits.ts";
import { makeTree } from "./make-tree.ts";
import { checkMirrors, redact } from "./mirrors.ts";
import { type GivenOptions, type SourceOptions, sourceOptions } from "./options.ts";
import { packTar } from "./pack-tar.ts";
import { shortNotes } from "./short-notes.ts";

export { openTar } from "./cache.ts";

export interface FetchedSource extends SourceRef {
  /** It was there already, or another fetch that was waited for brought it. */
  cached: boolean;
}

/** Raised whenever the same source would be packed into other bytes. */
const LAYOUT = 2;

/**
 * Brings a source into the machine's cache, once: fetches of the same source, from whatever process, wait for the first
 * one and share its result, or its failure. `openTar` then opens the result.
 * Throws `CausedError` (source_vanished, source_mismatch, source_too_large, source_unavailable), the reason of an
 * aborted `options.signal`, or `UsageError` for a wrong mirror rule.
 */
export async function fetchSource(source: Source, given: GivenOptions): Promise<FetchedSource> {
  const options = sourceOptions(given);
  checkMirrors(options.mirrors);
  const pinned = pinnedDigest(source);
  const present = pinned === null ? null : await readEntry(options.stateFolder, pinned);
  if (present !== null) return fetched(present, true);
  const key = pinned ?? digestOf({ directory: source });
  const asked = Date.now();
  const lock = join(options.stateFolder, "sources", "locks", key);
  const waiting = options.signal === null ? {} : { signal: options.signal };
  return await withLock(lock, () => fetchLocked(source, options, { key, pinned, asked }), waiting);
}

/**
 * A digest names what is delivered: the kind, the pin (commit id, file's sha256, name and version), the address of a git
 * source, and the layout. It is the same on every machine and whatever mirror is used. Folders have no pin.
 */
function pinnedDigest(source: Source): string | null {
  switch (source.kind) {
    case "git": {
      const { repository, revision } = source;
      if (revision === null) {
        throw new CausedError(
          "source_vanished",
          `${redact(repository)}: the suite pins no commit, so it can't be fetched`,
        );
      }
      return digestOf({ kind: "git", repository: redact(repository), revision });
    }
    case "sdist":
      return digestOf({ kind: "sdist", file: source.file, version: source.version, sha256: source.sha256 });
    case "archive":
      return digestOf({ kind: "archive", sha256: source.sha256 });
    case "directory":
      return null;
  }
}

function digestOf(value: object): string {
  return createHash("sha256")
    .update(canonicalJson({ layout: LAYOUT, ...value }))
    .digest("hex");
}

interface Wanted {
  key: string;
  pinned: string | null;
  /** Milliseconds. */
  asked: number;
}

async function fetchLocked(source: Source, options: SourceOptions, wanted: Wanted): Promise<FetchedSource> {
  const present = wanted.pinned === null ? null : await readEntry(options.stateFolder, wanted.pinned);
  if (present !== null) return fetched(present, true);
  const failures = join(options.stateFolder, "sources", "failures", wanted.key);
  if (wanted.pinned !== null) await shareFailure(failures, wanted.asked);
  const staging = await makeStaging(options.stateFolder, wanted.key);
  const limits = startLimits(options, describe(source));
  try {
    const entry = await fetchInto(staging, source, options, limits, wanted.pinned);
    await rm(failures, { force: true });
    return fetched(entry, false);
  } catch (error) {
    const failure = limits.signal.aborted ? limits.signal.reason : withCause(error, describe(source));
    if (failure instanceof CausedError) await recordFailure(failures, failure);
    throw failure;
  } finally {
    limits.end();
    await removeStaging(staging);
  }
}

async function fetchInto(
  staging: string,
  source: Source,
  options: SourceOptions,
  limits: Limits,
  pinned: string | null,
): Promise<CachedSource> {
  const made = await makeTree(source, options, limits, staging);
  const digest = pinned ?? digestOf({ kind: "directory", content: made.content });
  const present = await readEntry(options.stateFolder, digest);
  if (present !== null) return present;
  const tar = join(staging, "repository.tar");
  await packTar(made.root, tar, made.seconds, limits.signal);
  const { revision } = made;
  return await publishEntry(options.stateFolder, tar, {
    digest,
    revision,
    notes: shortNotes(made.notes),
    source: withoutSecrets(source),
  });
}

/** Trouble of this machine (disk, permissions) keeps its system code in the message; a fault of the code stays one. */
function withCause(error: unknown, what: string): unknown {
  const system = error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
  if (!system) return error;
  return new CausedError("source_unavailable", `${what}: ${error.message}`, { cause: error });
}

function fetched({ ref, notes }: CachedSource, cached: boolean): FetchedSource {
  return { ...ref, cached, notes };
}

async function recordFailure(path: string, failure: CausedError): Promise<void> {
  const { failure: cause, message } = failure;
  await writeFileAtomically(path, JSON.stringify({ cause, message, at: Date.now() }));
}

/** Whoever was already waiting when the fetch failed takes over its failure. */
async function shareFailure(path: string, asked: number): Promise<void> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const { cause, message, at } = JSON.parse(text);
  if (at > asked) throw new CausedError(cause, message);
}

function describe(source: Source): string {
  switch (source.kind) {
    case "git":
      return `${redact(source.repository)} at ${source.revision}`;
    case "sdist":
      return source.file;
    case "archive":
      return redact(source.url);
    case "directory":
      return source.path;
  }
}

function withoutSecrets(source: Source): Source {
  if (source.kind === "git") return { ...source, repository: redact(source.repository) };
  return source.kind === "archive" ? { ...source, url: redact(source.url) } : source;
}
