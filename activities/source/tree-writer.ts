import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { constants, copyFile, mkdir, rename, stat, unlink, utimes } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { CausedError } from "../errors.ts";
import type { Limits } from "./limits.ts";
import { clampTime, EARLIEST } from "./times.ts";
import { makeLinks, place } from "./tree-links.ts";

/** Paths and targets are binary strings (one character a byte): file names need not be UTF-8. */
type TreeEntry =
  | { kind: "file"; path: string; executable: boolean; mtime: number; content: AsyncIterable<Uint8Array> }
  | { kind: "folder"; path: string }
  | { kind: "symlink" | "hardlink"; path: string; target: string };

export interface TreeWriter {
  add(entry: TreeEntry): Promise<void>;
  /** Makes the links, strips a lone top folder if asked to, and says where the tree begins. */
  finish(options: { strip: boolean }): Promise<WrittenTree>;
}

export interface WrittenTree {
  root: string;
  /** sha256 over names, kinds, executable bits, targets and contents. */
  digest: string;
  notes: string[];
}

/**
 * Writes foreign entries under `folder` (new) and nowhere else. An absolute path or one with `..` is refused, as is a
 * path through a link; links are made last, and those that leave the tree are dropped with a note. Anything named
 * `.git` is dropped: its settings could run commands. Throws source_mismatch, or source_too_large by the limits.
 */
export async function writeTree(folder: string, what: string, limits: Limits): Promise<TreeWriter> {
  await mkdir(folder, { recursive: true });
  const state: State = {
    folder,
    what,
    limits,
    kinds: new Map(),
    links: new Map(),
    lines: new Map(),
    notes: [],
  };
  return {
    add: (entry) => add(state, entry),
    finish: (options) => finish(state, options.strip),
  };
}

interface State {
  folder: string;
  what: string;
  limits: Limits;
  kinds: Map<string, TreeEntry["kind"]>;
  links: Map<string, string>;
  lines: Map<string, string>;
  notes: string[];
}

async function add(state: State, entry: TreeEntry): Promise<void> {
  const parts = cleanParts(state, entry.path);
  const path = parts.join("/");
  if (parts.some((part) => part.toLowerCase() === ".git")) {
    state.notes.push(`${path}: .git is not taken over`);
    if (entry.kind === "file")
      for await (const chunk of entry.content) state.limits.unpacked(chunk.length, 0);
    return;
  }
  state.limits.unpacked(0, 1);
  if (entry.kind === "folder") return makeFolders(state, parts);
  if (parts.length === 0) throw refusal(state, "the top is not a folder");
  await makeFolders(state, parts.slice(0, -1));
  await makeRoom(state, path);
  if (entry.kind === "file") await writeFile(state, path, entry);
  else if (entry.kind === "symlink") state.links.set(path, entry.target);
  else await copyLinked(state, path, entry.target);
  if (entry.kind === "symlink") state.kinds.set(path, "symlink");
}

function cleanParts(state: State, path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..") || path.includes("\0")) {
    throw refusal(state, `the path ${JSON.stringify(path)} leaves the tree`);
  }
  return parts;
}

async function makeFolders(state: State, parts: readonly string[]): Promise<void> {
  for (let depth = 1; depth <= parts.length; depth++) {
    const path = parts.slice(0, depth).join("/");
    const kind = state.kinds.get(path);
    if (kind === "folder") continue;
    if (kind !== undefined) throw refusal(state, `${path} is both a folder and a ${kind}`);
    await mkdir(place(state.folder, path));
    state.kinds.set(path, "folder");
    state.lines.set(path, "folder");
  }
}

/** A later entry of the same name replaces an earlier one, as tar does. */
async function makeRoom(state: State, path: string): Promise<void> {
  const kind = state.kinds.get(path);
  if (kind === "folder") throw refusal(state, `${path} is both a folder and a file`);
  if (kind === "file") await unlink(place(state.folder, path));
  state.links.delete(path);
  state.kinds.delete(path);
}

async function writeFile(
  state: State,
  path: string,
  entry: Extract<TreeEntry, { kind: "file" }>,
): Promise<void> {
  const hash = createHash("sha256");
  async function* counted(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      state.limits.unpacked(chunk.length, 0);
      hash.update(chunk);
      yield chunk;
    }
  }
  const target = place(state.folder, path);
  const file = createWriteStream(target, { flags: "wx", mode: entry.executable ? 0o755 : 0o644 });
  await pipeline(entry.content, counted, file, { signal: state.limits.signal });
  const time = clampTime(entry.mtime);
  await utimes(target, time, time);
  state.kinds.set(path, "file");
  state.lines.set(path, `${entry.executable ? "executable" : "file"} ${hash.digest("hex")}`);
}

/** Hard links become copies; one to what is not there is dropped. */
async function copyLinked(state: State, path: string, target: string): Promise<void> {
  const original = cleanParts(state, target).join("/");
  const link = state.links.get(original);
  const line = state.lines.get(original);
  if (link !== undefined) {
    state.links.set(path, link);
    state.kinds.set(path, "symlink");
  } else if (state.kinds.get(original) === "file" && line !== undefined) {
    const from = place(state.folder, original);
    const { size, mtime } = await stat(from);
    state.limits.unpacked(size, 0);
    await copyFile(from, place(state.folder, path), constants.COPYFILE_EXCL);
    await utimes(place(state.folder, path), mtime, mtime);
    state.kinds.set(path, "file");
    state.lines.set(path, line);
  } else {
    state.notes.push(`${path}: a hard link to what is not there`);
  }
}

async function finish(state: State, strip: boolean): Promise<WrittenTree> {
  if (![...state.kinds.values()].some((kind) => kind !== "folder")) throw refusal(state, "holds no file");
  const [top, more] = [...state.kinds.keys()].filter((path) => !path.includes("/"));
  const alone = strip && top !== undefined && more === undefined && state.kinds.get(top) === "folder";
  const outer = alone ? `${top}/` : "";
  const root = alone ? `${state.folder}.stripped` : state.folder;
  if (alone) await rename(place(state.folder, top), root);
  const links = new Map([...state.links].map(([path, target]) => [path.slice(outer.length), target]));
  const { made, dropped } = await makeLinks(root, links);
  for (const path of made) state.lines.set(outer + path, `symlink ${JSON.stringify(links.get(path))}`);
  for (const path of dropped) state.notes.push(`${outer}${path}: a link that leaves the tree`);
  for (const [path, kind] of state.kinds) {
    const gone = alone && path === top;
    if (kind === "folder" && !gone) await utimes(place(root, path.slice(outer.length)), EARLIEST, EARLIEST);
  }
  await utimes(root, EARLIEST, EARLIEST);
  const lines = [...state.lines].map(([path, line]) => `${JSON.stringify(path)} ${line}\n`).sort();
  const digest = createHash("sha256").update(lines.join("")).digest("hex");
  return { root, digest, notes: state.notes };
}

function refusal(state: State, why: string): CausedError {
  return new CausedError("source_mismatch", `${state.what}: ${why}`);
}
