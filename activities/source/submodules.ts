import type { Git } from "./git-command.ts";

export interface Submodule {
  path: string;
  /** Null when .gitmodules names none, or one that is not fetched. */
  url: string | null;
  revision: string;
}

/** The submodules that a commit pins, by path; `folder` is a bare repository that holds its objects. */
export async function listSubmodules(
  git: Git,
  folder: string,
  revision: string,
  repository: string,
): Promise<Submodule[]> {
  const rows = await git.must(["--git-dir", folder, "ls-tree", "-r", "-z", "--full-tree", revision]);
  const pinned = new Map<string, string>();
  let declared = false;
  for (const row of rows.toString("utf8").split("\0")) {
    const [, mode, object, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(row) ?? [];
    if (mode === "160000" && object && path) pinned.set(path, object);
    if (path === ".gitmodules" && mode?.startsWith("100")) declared = true;
  }
  if (pinned.size === 0) return [];
  const urls = declared ? await declaredUrls(git, folder, revision) : new Map<string, string>();
  return [...pinned].sort().map(([path, object]) => {
    const url = urls.get(path);
    return { path, revision: object, url: url === undefined ? null : submoduleUrl(url, repository) };
  });
}

/** Addresses by path. A .gitmodules that git can't read declares nothing. */
async function declaredUrls(git: Git, folder: string, revision: string): Promise<Map<string, string>> {
  const blob = `--blob=${revision}:.gitmodules`;
  const pattern = "^submodule\\..*\\.(path|url)$";
  const result = await git.run(["--git-dir", folder, "config", "-z", blob, "--get-regexp", pattern]);
  const modules = new Map<string, { path?: string; url?: string }>();
  for (const row of result.exit === 0 ? result.stdout.toString("utf8").split("\0") : []) {
    const [, name, key, value] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(row) ?? [];
    if (name !== undefined && key !== undefined) modules.set(name, { ...modules.get(name), [key]: value });
  }
  const urls = new Map<string, string>();
  for (const { path, url } of modules.values()) {
    if (path !== undefined && url !== undefined) urls.set(path.replace(/\/+$/, ""), url);
  }
  return urls;
}

/**
 * The address that a submodule is fetched from. A relative one is taken from the repository's own; addresses for
 * ssh and git:// become https, as there are no keys here. Null for anything else.
 */
export function submoduleUrl(url: string, repository: string): string | null {
  if (/^\.\.?\//.test(url)) {
    const base = repository.endsWith("/") ? repository : `${repository}/`;
    return new URL(url, base).href.replace(/\/$/, "");
  }
  if (/^https?:\/\/[^/]/.test(url)) return url;
  const secure = /^(?:ssh|git|git\+ssh):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+)$/.exec(url);
  if (secure) return `https://${secure[1]}/${secure[2]}`;
  const scp = /^(?:[^/@:]+@)?([^/:]+\.[^/:]+):(?!\/)(.+)$/.exec(url);
  return scp ? `https://${scp[1]}/${scp[2]}` : null;
}
