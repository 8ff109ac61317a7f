import { CausedError } from "../../errors.ts";

/** One entry of one layer. `path` has no leading `./` or `/` and no trailing `/`; the root is "". */
export interface LayerEntry {
  layer: number;
  index: number;
  path: string;
  type: string;
  /** For hard links: the file that holds the content. */
  target: LayerEntry | null;
}

interface Node {
  entry: LayerEntry | null;
  children: Map<string, Node>;
}

const WHITEOUT = ".wh.";
const OPAQUE = ".wh..wh..opq";

/** The file tree that layers make when each is laid over those before it (OCI image specification, layer.md). */
export interface LayerTree {
  /** Lays a whole layer over the tree: `entries` in the order of its tar. */
  add(
    entries: readonly {
      header: { name: string; type?: string | null; linkname?: string | null };
      index: number;
    }[],
  ): void;
  /** What is still there at the end. */
  survivors(): LayerEntry[];
}

export function layerTree(): LayerTree {
  const root: Node = { entry: null, children: new Map() };
  let layer = -1;
  return {
    add(entries) {
      layer += 1;
      const named = entries.map(({ header, index }) => ({ header, index, path: cleanPath(header.name) }));
      // Whiteouts mean the layers below, wherever they stand in their own.
      for (const { path } of named) hide(root, path);
      for (const { header, index, path } of named) {
        if (baseName(path).startsWith(WHITEOUT)) continue;
        const type = header.type ?? "file";
        const target = type === "link" ? contentOf(root, cleanPath(header.linkname ?? ""), path) : null;
        place(root, { layer, index, path, type, target });
      }
    },
    survivors: () => collect(root, []),
  };
}

/** As in `LayerEntry.path`; throws CausedError when the path leads out of the root. */
export function cleanPath(name: string): string {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes(".."))
    throw new CausedError("image_pull", `the image has an entry outside its root: ${name}`);
  return parts.join("/");
}

function hide(root: Node, path: string): void {
  const name = baseName(path);
  if (!name.startsWith(WHITEOUT)) return;
  const folder = find(root, path.slice(0, Math.max(0, path.length - name.length - 1)));
  if (name === OPAQUE) folder?.children.clear();
  else folder?.children.delete(name.slice(WHITEOUT.length));
}

function place(root: Node, entry: LayerEntry): void {
  let node = root;
  const parts = entry.path === "" ? [] : entry.path.split("/");
  for (const part of parts) {
    // What a folder's content lies in is a folder (or a link to one), whatever lower layers had there.
    if (node.entry && node.entry.type !== "directory" && node.entry.type !== "symlink") node.entry = null;
    let child = node.children.get(part);
    if (child === undefined) {
      child = { entry: null, children: new Map() };
      node.children.set(part, child);
    }
    node = child;
  }
  const isFolder = entry.type === "directory" && (node.entry === null || node.entry.type === "directory");
  if (!isFolder) node.children.clear();
  node.entry = entry;
}

function contentOf(root: Node, target: string, path: string): LayerEntry {
  const entry = find(root, target)?.entry;
  if (!entry)
    throw new CausedError(
      "image_pull",
      `the image's hard link ${path} leads to ${target}, which is not there`,
    );
  return entry.target ?? entry;
}

function find(root: Node, path: string): Node | undefined {
  let node: Node | undefined = root;
  for (const part of path === "" ? [] : path.split("/")) node = node?.children.get(part);
  return node;
}

function collect(node: Node, into: LayerEntry[]): LayerEntry[] {
  if (node.entry) into.push(node.entry);
  for (const child of node.children.values()) collect(child, into);
  return into;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
