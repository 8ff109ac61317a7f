import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Header, type Pack, pack } from "tar-stream";
import { type Entry, type Layer, readLayer } from "./layer.ts";
import { type LayerEntry, layerTree } from "./layer-tree.ts";

/** What to write when the reading comes to an entry. */
type Plan = Map<string, { name: string; linkname: string | null }>;

/** Writes the layers, lowest first, as the one tar of the root file system they make. Device nodes are left out. */
export async function flattenLayers(layers: readonly Layer[], target: string): Promise<void> {
  const tree = layerTree();
  for (const layer of layers) {
    const entries: { header: Header; index: number }[] = [];
    await readLayer(layer, async (entry, index) => {
      if (!isDevice(entry.header)) entries.push({ header: entry.header, index });
    });
    tree.add(entries);
  }
  const plan = planOf(tree.survivors());
  const output = pack();
  const writing = pipeline(output, createWriteStream(target));
  const reading = writeLayers(layers, plan, output).catch((error: Error) => {
    // Ends the file as well, else the wait for it would never end.
    output.destroy(error);
    throw error;
  });
  await Promise.all([writing, reading]);
}

async function writeLayers(layers: readonly Layer[], plan: Plan, output: Pack): Promise<void> {
  for (const [number, layer] of layers.entries()) {
    await readLayer(layer, async (entry, index) => {
      const planned = plan.get(`${number}:${index}`);
      if (planned) await writeEntry(output, entry, planned);
    });
  }
  output.finalize();
}

async function writeEntry(
  output: Pack,
  entry: Entry,
  planned: { name: string; linkname: string | null },
): Promise<void> {
  const { mode, uid, gid, mtime, size, type, pax } = entry.header;
  const {
    path: _path,
    linkpath: _linkpath,
    size: _size,
    ...attributes
  } = (pax ?? {}) as Record<string, string>;
  const linkname = type === "symlink" ? entry.header.linkname : planned.linkname;
  const header = { name: planned.name, mode, uid, gid, mtime, type, pax: attributes };
  if (type !== "file" && type !== "contiguous-file") {
    output.entry(linkname === null ? header : { ...header, linkname });
    return;
  }
  await pipeline(entry, output.entry({ ...header, size }));
}

/**
 * A hard link whose file was replaced or removed by a later layer keeps the old content: the first such link is
 * written in place of the file, the others as links to it.
 */
function planOf(survivors: LayerEntry[]): Plan {
  const plan: Plan = new Map();
  const alive = new Set(survivors);
  const carriers = new Map<LayerEntry, LayerEntry>();
  for (const entry of survivors.sort((a, b) => a.layer - b.layer || a.index - b.index)) {
    const { target } = entry;
    const carrier = target && (alive.has(target) ? target : carriers.get(target));
    if (carrier) plan.set(key(entry), { name: entry.path, linkname: carrier.path });
    else if (target) {
      carriers.set(target, entry);
      plan.set(key(target), { name: entry.path, linkname: null });
    } else
      plan.set(key(entry), {
        name: entry.type === "directory" ? `${entry.path}/` : entry.path,
        linkname: null,
      });
  }
  return plan;
}

function key(entry: LayerEntry): string {
  return `${entry.layer}:${entry.index}`;
}

function isDevice(header: Header): boolean {
  return header.type === "character-device" || header.type === "block-device";
}
