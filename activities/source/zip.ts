import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";
import { CausedError } from "../errors.ts";
import type { TreeWriter } from "./tree-writer.ts";

interface ZipEntry {
  /** Binary string. */
  path: string;
  method: number;
  encrypted: boolean;
  compressed: number;
  size: number;
  offset: number;
  /** Unix mode, 0 when the archive was made elsewhere. */
  mode: number;
  mtime: number;
}

const STORED = 0;
const DEFLATED = 8;
const MAX_DIRECTORY = 256 * 1024 * 1024;
const MAX_TARGET = 4096;
const ALL_ONES = 0xffffffff;

/** Unpacks a zip file, by its central directory as APPNOTE.TXT 4.3 describes it (with zip64), into `tree`. */
export async function unpackZip(file: string, what: string, tree: TreeWriter): Promise<void> {
  const handle = await open(file);
  try {
    for (const entry of await readDirectory(handle, what)) await addEntry(handle, file, what, entry, tree);
  } finally {
    await handle.close();
  }
}

async function addEntry(handle: FileHandle, file: string, what: string, entry: ZipEntry, tree: TreeWriter) {
  const { path, mode } = entry;
  const type = mode & 0o170000;
  if (path.endsWith("/")) return tree.add({ kind: "folder", path });
  if (type !== 0 && type !== 0o100000 && type !== 0o120000) throw refusal(what, `${path} is a special file`);
  if (entry.encrypted) throw refusal(what, `${path} is encrypted`);
  if (entry.method !== STORED && entry.method !== DEFLATED)
    throw refusal(what, `${path}: method ${entry.method}`);
  const content = await contentOf(handle, file, what, entry);
  if (type !== 0o120000) {
    await tree.add({ kind: "file", path, executable: (mode & 0o111) !== 0, mtime: entry.mtime, content });
    return;
  }
  if (entry.size > MAX_TARGET) throw refusal(what, `${path}: a link of ${entry.size} bytes`);
  await tree.add({ kind: "symlink", path, target: (await buffer(content)).toString("latin1") });
}

async function contentOf(handle: FileHandle, file: string, what: string, entry: ZipEntry): Promise<Readable> {
  const header = await read(handle, entry.offset, 30, what);
  if (header.readUInt32LE(0) !== 0x04034b50) throw refusal(what, `${entry.path}: no local header`);
  const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (entry.compressed === 0) return Readable.from([]);
  const raw = createReadStream(file, { start, end: start + entry.compressed - 1 });
  if (entry.method === STORED) return raw;
  const plain = new PassThrough();
  pipeline(raw, createInflateRaw(), plain).catch((error: Error) => plain.destroy(error));
  return plain;
}

async function readDirectory(handle: FileHandle, what: string): Promise<ZipEntry[]> {
  const { offset, size, count } = await findDirectory(handle, what);
  if (size > MAX_DIRECTORY)
    throw new CausedError("source_too_large", `${what}: a directory of ${size} bytes`);
  const directory = await read(handle, offset, size, what);
  const entries: ZipEntry[] = [];
  let at = 0;
  while (entries.length < count) {
    if (at + 46 > size || directory.readUInt32LE(at) !== 0x02014b50)
      throw refusal(what, "damaged central directory");
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    entries.push(parseEntry(directory.subarray(at, at + 46 + name + extra), name));
    at += 46 + name + extra + comment;
  }
  return entries;
}

function parseEntry(row: Buffer, nameLength: number): ZipEntry {
  const wide = wideFields(row.subarray(46 + nameLength));
  const field = (at: number) => {
    const value = row.readUInt32LE(at);
    return value === ALL_ONES ? (wide.shift() ?? value) : value;
  };
  const size = field(24);
  const compressed = field(20);
  const offset = field(42);
  return {
    path: row.toString("latin1", 46, 46 + nameLength),
    method: row.readUInt16LE(10),
    encrypted: (row.readUInt16LE(8) & 1) !== 0,
    size,
    compressed,
    offset,
    mode: row.readUInt8(5) === 3 ? row.readUInt32LE(38) >>> 16 : 0,
    mtime: dosTime(row.readUInt16LE(14), row.readUInt16LE(12)),
  };
}

/** The 64-bit values of the zip64 extra field, in their fixed order: size, compressed size, offset. */
function wideFields(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const end = Math.min(at + 4 + extra.readUInt16LE(at + 2), extra.length);
    const values: number[] = [];
    for (let value = at + 4; value + 8 <= end; value += 8) values.push(Number(extra.readBigUInt64LE(value)));
    return values;
  }
  return [];
}

/** Taken as UTC: the format names no time zone. */
function dosTime(date: number, time: number): number {
  const day = [1980 + (date >> 9), ((date >> 5) & 15) - 1, date & 31] as const;
  return Date.UTC(...day, time >> 11, (time >> 5) & 63, (time & 31) * 2) / 1000;
}

async function findDirectory(handle: FileHandle, what: string) {
  const { size: fileSize } = await handle.stat();
  const length = Math.min(fileSize, 22 + 0xffff);
  const tail = await read(handle, fileSize - length, length, what);
  const at = tail.lastIndexOf(Buffer.from("504b0506", "hex"));
  if (at < 0 || at + 22 > length) throw refusal(what, "no central directory");
  const found = {
    count: tail.readUInt16LE(at + 10),
    size: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  if (found.offset !== ALL_ONES && found.count !== 0xffff && found.size !== ALL_ONES) return found;
  const locator = at >= 20 ? tail.subarray(at - 20, at) : Buffer.alloc(20);
  if (locator.readUInt32LE(0) !== 0x07064b50) return found;
  const wide = await read(handle, Number(locator.readBigUInt64LE(8)), 56, what);
  const [count, size, offset] = [32, 40, 48].map((field) => Number(wide.readBigUInt64LE(field))) as [
    number,
    number,
    number,
  ];
  return { count, size, offset };
}

async function read(handle: FileHandle, position: number, length: number, what: string): Promise<Buffer> {
  const into = Buffer.alloc(length);
  const { bytesRead } = await handle.read(into, 0, length, position);
  if (bytesRead !== length) throw refusal(what, "cut short");
  return into;
}

function refusal(what: string, why: string): CausedError {
  return new CausedError("source_mismatch", `${what}: zip: ${why}`);
}
