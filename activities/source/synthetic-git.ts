import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CausedError } from "../errors.ts";
import type { Git } from "./git-command.ts";
import { writeGitFolder } from "./git-folder.ts";
import { stampTimes } from "./pack-tar.ts";

/** No conversion may touch what the source holds: the commit has the very bytes of the files. */
const ATTRIBUTES = "* -text -eol -ident -filter !working-tree-encoding\n";
/** 2000-01-01. */
export const SYNTHETIC_SECONDS = 946_684_800;
const WHEN = `${SYNTHETIC_SECONDS} +0000`;
const IDENTITY = {
  GIT_AUTHOR_NAME: "setup-bench",
  GIT_AUTHOR_EMAIL: "setup-bench@localhost",
  GIT_AUTHOR_DATE: WHEN,
  GIT_COMMITTER_NAME: "setup-bench",
  GIT_COMMITTER_EMAIL: "setup-bench@localhost",
  GIT_COMMITTER_DATE: WHEN,
};

/**
 * Gives `tree` a `.git` of one commit with all its files (ignored ones too) on branch main, dated 2000-01-01, without a
 * remote; for a release also the annotated tag `v<version>` at that commit, from which setuptools-scm, hatch-vcs and
 * their like take the version.
 */
export async function addSyntheticGit(
  git: Git,
  tree: string,
  scratch: string,
  release: { title: string; version: string | null },
): Promise<void> {
  const objects = join(scratch, "objects");
  await git.must(["init", "--quiet", "--bare", objects]);
  await mkdir(join(objects, "info"), { recursive: true });
  await writeFile(join(objects, "info", "attributes"), ATTRIBUTES);
  const lenient = ["core.protectNTFS=false", "core.protectHFS=false", "core.looseCompression=1"];
  const always = [...lenient.flatMap((setting) => ["-c", setting]), "--git-dir", objects];
  const environment = { ...IDENTITY, GIT_INDEX_FILE: join(scratch, "index") };
  const write = async (args: readonly string[], input = "") =>
    (await git.must([...always, ...args], { environment, input })).toString().trim();
  await write(["--work-tree", tree, "add", "--all", "--force", "--", "."]);
  const revision = await write(["commit-tree", await write(["write-tree"])], `${release.title}\n`);
  const tags = release.version === null ? [] : [await makeTag(write, revision, release.version)];
  await writeGitFolder(git, { objects, revision, tags }, join(tree, ".git"), {
    branch: "main",
    origin: null,
    attributes: ATTRIBUTES,
    submodules: false,
  });
  await stampTimes(join(tree, ".git"), SYNTHETIC_SECONDS);
  await utimes(tree, SYNTHETIC_SECONDS, SYNTHETIC_SECONDS);
}

async function makeTag(
  write: (args: readonly string[], input?: string) => Promise<string>,
  revision: string,
  version: string,
): Promise<{ name: string; object: string }> {
  if (!/^[A-Za-z0-9][A-Za-z0-9.!+_-]*$/.test(version)) {
    throw new CausedError("source_mismatch", `version ${JSON.stringify(version)}: can't be made a git tag`);
  }
  const tagger = `${IDENTITY.GIT_COMMITTER_NAME} <${IDENTITY.GIT_COMMITTER_EMAIL}> ${WHEN}`;
  const lines = [
    `object ${revision}`,
    "type commit",
    `tag v${version}`,
    `tagger ${tagger}`,
    "",
    `Version ${version}`,
    "",
  ];
  return { name: `refs/tags/v${version}`, object: await write(["mktag"], lines.join("\n")) };
}
