import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Commit } from "./git.ts";
import type { Git } from "./git-command.ts";

export interface GitFolder {
  /** Null leaves HEAD detached. */
  branch: string | null;
  /** Address of the remote `origin`. */
  origin: string | null;
  /** Content of info/attributes. */
  attributes: string | null;
  submodules: boolean;
}

/**
 * Writes the `.git` that is delivered, `into` (new), of one commit: the same commit and tags give the same bytes.
 *
 * It holds: HEAD, a config, one pack (every object of the commit, nothing as a delta, so that its bytes don't depend
 * on how the server had packed them), packed tags, `shallow` where the commit has parents, and an index without file
 * times (git compares contents once, on the first look). No hooks, no logs, nothing of the fetching side.
 */
export async function writeGitFolder(
  git: Git,
  commit: Commit,
  into: string,
  folder: GitFolder,
): Promise<void> {
  const within = (args: readonly string[]) => ["--git-dir", into, ...args];
  for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
    await mkdir(join(into, part), { recursive: true });
  }
  const head = folder.branch === null ? commit.revision : `ref: refs/heads/${folder.branch}`;
  await writeFile(join(into, "HEAD"), `${head}\n`);
  await writeFile(join(into, "config"), configText(folder));
  if (folder.attributes !== null) await writeFile(join(into, "info", "attributes"), folder.attributes);

  // Quoted: unquoted, a colon would end the path.
  const alternate = join(commit.objects, "objects").replaceAll(/["\\]/g, "\\$&");
  const environment = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${alternate}"` };
  const raw = (await git.must(within(["cat-file", "commit", commit.revision]), { environment })).toString(
    "latin1",
  );
  if (/^parent /m.test(raw.split("\n\n", 1)[0] ?? ""))
    await writeFile(join(into, "shallow"), `${commit.revision}\n`);

  const wanted = [commit.revision, ...commit.tags.map(({ object }) => object)];
  const listing = ["rev-list", "--objects", "--no-object-names", ...wanted];
  const objects = (await git.must(within(listing), { environment })).toString();
  const packing = [
    "pack-objects",
    "--quiet",
    "--window=0",
    "--no-reuse-object",
    join(into, "objects/pack/pack"),
  ];
  await git.must(within(packing), { environment, input: objects });

  const refs = commit.tags.map(({ name, object }) => `create ${name} ${object}\n`);
  if (folder.branch !== null) refs.push(`create refs/heads/${folder.branch} ${commit.revision}\n`);
  await git.must(["-c", "core.logAllRefUpdates=false", ...within(["update-ref", "--stdin"])], {
    input: refs.join(""),
  });
  if (refs.length > 0) await git.must(within(["pack-refs", "--all"]));
  await git.must(within(["read-tree", commit.revision]));
}

function configText({ branch, origin, submodules }: GitFolder): string {
  const lines = ["[core]", "\trepositoryformatversion = 0", "\tfilemode = true", "\tbare = false"];
  lines.push("\tlogallrefupdates = true");
  if (origin !== null) {
    lines.push('[remote "origin"]', `\turl = "${origin.replaceAll(/["\\]/g, "\\$&")}"`);
    lines.push("\tfetch = +refs/heads/*:refs/remotes/origin/*");
  }
  if (branch !== null && origin !== null) lines.push(`[branch "${branch}"]`, "\tremote = origin");
  if (submodules) lines.push("[submodule]", "\tactive = .");
  return `${lines.join("\n")}\n`;
}
