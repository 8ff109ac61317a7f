import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Source } from "../../benchmarks/schema.ts";
import { CausedError } from "../errors.ts";
import { unpackArchive } from "./archive.ts";
import { copyDirectory } from "./directory.ts";
import { prepareGit } from "./git-command.ts";
import { fetchGitTree } from "./git-tree.ts";
import { download } from "./http.ts";
import type { Limits } from "./limits.ts";
import { type Address, mirrorAddress, redact } from "./mirrors.ts";
import type { SourceOptions } from "./options.ts";
import { findSdist } from "./sdist.ts";
import { addSyntheticGit, SYNTHETIC_SECONDS } from "./synthetic-git.ts";
import { clampTime } from "./times.ts";
import { type WrittenTree, writeTree } from "./tree-writer.ts";

/** A repository laid out on disk, ready to be packed. */
export interface MadeTree {
  root: string;
  revision: string | null;
  /** The time of all entries; null keeps the files' own. */
  seconds: number | null;
  /** sha256 of the content, where nothing pins it. */
  content: string | null;
  notes: string[];
}

/** Fetches a source and lays it out, with its `.git`, under `staging`. */
export async function makeTree(
  source: Source,
  options: SourceOptions,
  limits: Limits,
  staging: string,
): Promise<MadeTree> {
  switch (source.kind) {
    case "git":
      return await makeGit(source, options, limits, staging);
    case "sdist": {
      const address = await findSdist(source, options, limits);
      const release = { what: source.file, title: `Release ${source.file}`, version: source.version };
      return await makeArchive(address, source.sha256, release, limits, staging);
    }
    case "archive": {
      const address = mirrorAddress(source.url, options.mirrors);
      const release = { what: redact(source.url), title: "Content of the archive", version: null };
      return await makeArchive(address, source.sha256, release, limits, staging);
    }
    case "directory":
      return await makeDirectory(source.path, limits, staging);
  }
}

async function makeGit(
  { repository, revision }: Extract<Source, { kind: "git" }>,
  options: SourceOptions,
  limits: Limits,
  staging: string,
): Promise<MadeTree> {
  const git = await prepareGit(staging, redact(repository), limits.signal);
  const notes: string[] = [];
  const scratch = join(staging, "objects");
  await mkdir(scratch);
  const root = join(staging, "tree");
  const job = { git, limits, options, scratch, notes, submodules: 0 };
  const { seconds } = await fetchGitTree(job, repository, revision ?? "", root);
  await rm(scratch, { recursive: true });
  return { root, revision, seconds: clampTime(seconds), content: null, notes };
}

async function makeArchive(
  address: Address,
  sha256: string,
  { what, title, version }: { what: string; title: string; version: string | null },
  limits: Limits,
  staging: string,
): Promise<MadeTree> {
  const file = join(staging, "download");
  const found = await download(address, file, what, limits);
  if (found !== sha256) {
    throw new CausedError("source_mismatch", `${what}: has sha256 ${found}, the suite ${sha256}`);
  }
  const tree = await writeTree(join(staging, "tree"), what, limits);
  await unpackArchive(file, what, tree, limits);
  await rm(file);
  const written = await tree.finish({ strip: true });
  await addGit(written, what, { title, version }, limits, staging);
  return { root: written.root, revision: version, seconds: null, content: null, notes: written.notes };
}

async function makeDirectory(path: string, limits: Limits, staging: string): Promise<MadeTree> {
  const tree = await writeTree(join(staging, "tree"), path, limits);
  const left = await copyDirectory(path, tree);
  const written = await tree.finish({ strip: false });
  await addGit(written, path, { title: "Content of the folder", version: null }, limits, staging);
  const notes = [...left, ...written.notes];
  return { root: written.root, revision: null, seconds: SYNTHETIC_SECONDS, content: written.digest, notes };
}

async function addGit(
  tree: WrittenTree,
  what: string,
  release: { title: string; version: string | null },
  limits: Limits,
  staging: string,
): Promise<void> {
  const git = await prepareGit(staging, what, limits.signal);
  const scratch = join(staging, "git");
  await mkdir(scratch);
  await addSyntheticGit(git, tree.root, scratch, release);
  await rm(scratch, { recursive: true });
}
