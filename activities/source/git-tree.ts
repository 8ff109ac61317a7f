import { mkdir, realpath, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { CausedError } from "../errors.ts";
import { fetchCommit } from "./git.ts";
import type { Git } from "./git-command.ts";
import { writeGitFolder } from "./git-folder.ts";
import type { Limits } from "./limits.ts";
import { mirrorAddress, redact } from "./mirrors.ts";
import type { SourceOptions } from "./options.ts";
import { listSubmodules, type Submodule } from "./submodules.ts";

export interface GitJob {
  git: Git;
  limits: Limits;
  options: SourceOptions;
  /** Takes the bare repositories. */
  scratch: string;
  /** What a reader of the results should know, e.g. a submodule that is gone. */
  notes: string[];
  submodules: number;
}

const MAX_SUBMODULES = 200;
const MAX_DEPTH = 8;

/**
 * Fetches a repository at a commit, with its submodules, and lays it out in `tree` (new): work tree and `.git`.
 * A submodule's `.git` is a folder inside its own work tree. Returns the commit's date in seconds.
 */
export async function fetchGitTree(
  job: GitJob,
  repository: string,
  revision: string,
  tree: string,
  depth = 0,
): Promise<{ seconds: number; tags: string[] }> {
  const { git, limits, options } = job;
  const what = `${redact(repository)} at ${revision}`;
  const address = mirrorAddress(repository, options.mirrors);
  const folder = join(job.scratch, `objects-${job.submodules}`);
  const commit = await fetchCommit(git, limits, { what, address, revision, folder });
  await measureTree(git, limits, folder, revision);
  const submodules = await listSubmodules(git, folder, revision, repository);
  const gitFolder = join(tree, ".git");
  await writeGitFolder(git, commit, gitFolder, {
    branch: null,
    origin: redact(repository),
    attributes: null,
    submodules: submodules.length > 0,
  });
  await git.must(["--git-dir", gitFolder, "--work-tree", tree, "checkout-index", "--all", "--force"]);
  for (const submodule of submodules) await fetchSubmodule(job, submodule, tree, depth + 1);
  const date = await git.must(["--git-dir", gitFolder, "show", "--no-patch", "--format=%ct", revision]);
  return { seconds: Number(date.toString().trim()) || 0, tags: commit.tags.map(({ name }) => name) };
}

/** A submodule that is gone leaves its folder empty, as a plain clone does; trouble with the network is a failure. */
async function fetchSubmodule(job: GitJob, submodule: Submodule, tree: string, depth: number): Promise<void> {
  job.submodules += 1;
  if (job.submodules > MAX_SUBMODULES || depth > MAX_DEPTH) {
    throw new CausedError(
      "source_too_large",
      `over ${MAX_SUBMODULES} submodules, or nested over ${MAX_DEPTH} deep`,
    );
  }
  const { path, url, revision } = submodule;
  if (url === null) {
    job.notes.push(`submodule ${path} left empty: .gitmodules gives no address that can be fetched`);
    return;
  }
  const folder = join(tree, path);
  // No part of the path may be a link, and the checkout left the folder empty; anything else would be a trick.
  if ((await realpath(folder)) !== join(await realpath(tree), path)) {
    throw new CausedError("source_mismatch", `submodule ${path}: its path leads elsewhere`);
  }
  await rmdir(folder);
  try {
    await fetchGitTree(job, url, revision, folder, depth);
  } catch (error) {
    if (!(error instanceof CausedError) || error.failure !== "source_vanished") throw error;
    job.notes.push(`submodule ${path} left empty: ${error.message}`);
    await mkdir(folder, { recursive: true });
  }
}

/** Counts what the checkout will write before it does: a small pack can unpack to any number of files. */
async function measureTree(git: Git, limits: Limits, folder: string, revision: string): Promise<void> {
  await git.must(["--git-dir", folder, "ls-tree", "-r", "-l", "-z", "--full-tree", revision], {
    output: async (stdout) => {
      let rest = "";
      for await (const chunk of stdout) {
        const rows = (rest + (chunk as Buffer).toString("latin1")).split("\0");
        rest = rows.pop() ?? "";
        let bytes = 0;
        for (const row of rows) bytes += Number(row.split("\t", 1)[0]?.trim().split(/ +/)[3]) || 0;
        limits.unpacked(bytes, rows.length);
      }
    },
  });
}
