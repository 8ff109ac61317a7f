import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CausedError } from "../errors.ts";
import type { Git } from "./git-command.ts";
import { gitFailure, NOT_OUR_REF, REFUSES_COMMIT } from "./git-failures.ts";
import type { Limits } from "./limits.ts";
import type { Address } from "./mirrors.ts";

export interface Commit {
  /** A bare repository that holds the commit's objects, and perhaps more. */
  objects: string;
  revision: string;
  /** Tags that point at the commit: the object of each, a tag object or the commit itself. */
  tags: { name: string; object: string }[];
}

const MAX_TAGS = 20;
const METER_MS = 250;

/**
 * Fetches one commit into the new bare repository `folder`: by its id at depth 1, or, from servers that refuse that,
 * by fetching all branches and tags. Failures carry the causes source_vanished, source_unavailable, source_too_large.
 */
export async function fetchCommit(
  git: Git,
  limits: Limits,
  { what, address, revision, folder }: { what: string; address: Address; revision: string; folder: string },
): Promise<Commit> {
  const url = checkAddress(what, address);
  const environment = address.mirrored && url.startsWith("file:") ? { GIT_ALLOW_PROTOCOL: "file" } : {};
  const remote: Remote = { git, limits, what, url, folder, environment };
  await git.must(["init", "--quiet", "--bare", folder]);
  const shallow = await metered(remote, ["--depth=1", "--no-tags", url, revision]);
  if (shallow.exit !== 0) {
    if (!(await mayStillHaveIt(remote, shallow.stderr))) throw gitFailure(what, ["fetch"], shallow);
    await fetchEverything(remote);
  }
  const type = await git.run(["--git-dir", folder, "cat-file", "-t", revision]);
  if (type.stdout.toString().trim() !== "commit") {
    throw new CausedError("source_vanished", `${what}: no branch or tag leads to the commit ${revision}`);
  }
  return { objects: folder, revision, tags: await fetchTags(remote, revision) };
}

interface Remote {
  git: Git;
  limits: Limits;
  what: string;
  url: string;
  folder: string;
  environment: Record<string, string>;
}

/** Only what a mirror rule made may be a path of this machine, whatever a suite or a .gitmodules file says. */
function checkAddress(what: string, { url, mirrored }: Address): string {
  if (/^https?:\/\/[^/]/.test(url) || (mirrored && url.startsWith("file:///"))) return url;
  const remedy = "only http and https are, and file where a mirror rule leads to it";
  throw new CausedError("source_vanished", `${what}: this kind of address is not fetched; ${remedy}`);
}

async function mayStillHaveIt(remote: Remote, stderr: string): Promise<boolean> {
  if (REFUSES_COMMIT.test(stderr)) return true;
  if (!NOT_OUR_REF.test(stderr)) return false;
  const trace = join(remote.folder, "packets");
  await remote.git.must(["ls-remote", "--quiet", remote.url, "HEAD"], {
    environment: { ...remote.environment, GIT_TRACE_PACKET: trace },
  });
  return !(await readFile(trace, "utf8")).includes("version 2");
}

async function fetchEverything(remote: Remote): Promise<void> {
  await rm(remote.folder, { recursive: true });
  await remote.git.must(["init", "--quiet", "--bare", remote.folder]);
  const refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const result = await metered(remote, ["--no-tags", "--update-head-ok", remote.url, ...refs]);
  if (result.exit !== 0) throw gitFailure(remote.what, ["fetch"], result);
}

/**
 * A fetch whose pack is measured while it grows: git knows no ceiling of its own here. `--progress` makes a fetch
 * that lost its parent to a kill -9 die of the closed pipe, instead of going on for nobody (one whose server is silent
 * ends by http.lowSpeedTime).
 */
async function metered({ git, limits, folder, environment }: Remote, args: readonly string[]) {
  let seen = await objectBytes(folder);
  let failure: unknown = null;
  const measure = async () => {
    const now = await objectBytes(folder);
    const grown = Math.max(0, now - seen);
    seen = Math.max(seen, now);
    limits.received(grown);
  };
  const timer = setInterval(() => {
    measure().catch((error: unknown) => {
      failure = error;
    });
  }, METER_MS);
  try {
    const result = await git.run(
      ["--git-dir", folder, "fetch", "--progress", "--no-write-fetch-head", ...args],
      {
        environment,
      },
    );
    await measure();
    if (failure !== null) throw failure;
    return result;
  } finally {
    clearInterval(timer);
  }
}

async function objectBytes(folder: string): Promise<number> {
  const pack = join(folder, "objects", "pack");
  let bytes = 0;
  for (const name of await readdir(pack)) bytes += await sizeOrGone(join(pack, name));
  return bytes;
}

async function sizeOrGone(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

async function fetchTags(remote: Remote, revision: string): Promise<Commit["tags"]> {
  const { git, what, folder, url, environment } = remote;
  const listing = await git.run(["ls-remote", "--quiet", "--tags", url], { environment });
  if (listing.exit !== 0) throw gitFailure(what, ["ls-remote"], listing);
  const tags = tagsAt(listing.stdout.toString(), revision);
  const missing: string[] = [];
  for (const { object } of tags) {
    const there = await git.run(["--git-dir", folder, "cat-file", "-e", object]);
    if (there.exit !== 0) missing.push(object);
  }
  const refs = tags.filter(({ object }) => missing.includes(object)).map(({ name }) => `+${name}:${name}`);
  if (refs.length > 0) {
    const result = await metered(remote, ["--depth=1", "--no-tags", url, ...refs]);
    if (result.exit !== 0) throw gitFailure(what, ["fetch"], result);
  }
  return tags;
}

/** The tags of an `ls-remote --tags` listing that point at the commit, directly or through a tag object; by name. */
export function tagsAt(listing: string, revision: string): Commit["tags"] {
  const objects = new Map<string, string>();
  const at = new Set<string>();
  for (const line of listing.split("\n")) {
    const [object, name] = line.split("\t");
    if (object === undefined || name === undefined || !/^refs\/tags\/[!-~]+$/.test(name)) continue;
    const plain = name.replace(/\^\{\}$/, "");
    if (plain === name) objects.set(name, object);
    if (object === revision) at.add(plain);
  }
  return [...at]
    .sort()
    .slice(0, MAX_TAGS)
    .flatMap((name) => ({ name, object: objects.get(name) ?? "" }))
    .filter(({ object }) => object !== "");
}
