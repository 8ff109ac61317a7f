import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type ExtractEvents, extract } from "tar-stream";
import { CausedError } from "../errors.ts";
import { runTool } from "./command.ts";
import type { Limits } from "./limits.ts";
import type { TreeWriter } from "./tree-writer.ts";
import { unpackZip } from "./zip.ts";

type TarEntry = ExtractEvents["entry"][1];
type TarHeader = TarEntry["header"];
type Format = "gzip" | "bzip2" | "xz" | "zip" | "tar";

/** Unpacks tar.gz, tar.bz2, tar.xz, tar or zip, told apart by their first bytes, into `tree`. Throws source_mismatch. */
export async function unpackArchive(
  file: string,
  what: string,
  tree: TreeWriter,
  limits: Limits,
): Promise<void> {
  const format = await formatOf(file, what);
  try {
    if (format === "zip") await unpackZip(file, what, tree);
    else await unpackTar(file, format, what, tree, limits);
  } catch (error) {
    limits.signal.throwIfAborted();
    if (error instanceof CausedError) throw error;
    throw new CausedError("source_mismatch", `${what}: damaged ${format} file: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function formatOf(file: string, what: string): Promise<Format> {
  const handle = await open(file);
  try {
    const head = Buffer.alloc(262);
    await handle.read(head, 0, 262, 0);
    const hex = head.toString("hex", 0, 6);
    if (hex.startsWith("1f8b")) return "gzip";
    if (hex.startsWith("425a68")) return "bzip2";
    if (hex === "fd377a585a00") return "xz";
    if (hex.startsWith("504b0304")) return "zip";
    if (head.toString("latin1", 257, 262) === "ustar") return "tar";
  } finally {
    await handle.close();
  }
  throw new CausedError("source_mismatch", `${what}: none of tar.gz, tar.bz2, tar.xz, tar and zip`);
}

async function unpackTar(
  file: string,
  format: Format,
  what: string,
  tree: TreeWriter,
  limits: Limits,
): Promise<void> {
  const plain = new PassThrough();
  const reading = decompress(file, format, plain, limits.signal);
  // Awaited below; a failure here must reach the reader, not become an unhandled rejection.
  reading.catch((error: Error) => plain.destroy(error));
  // Its types leave these two options out. Releases of old are in formats that carry no name.
  const options = { filenameEncoding: "latin1", allowUnknownFormat: true };
  const entries = extract(options as Parameters<typeof extract>[0]);
  const feeding = pipeline(plain, entries, { signal: limits.signal });
  feeding.catch((error: Error) => entries.destroy(error));
  for await (const entry of entries) await addTarEntry(entry, what, tree);
  await Promise.all([reading, feeding]);
}

async function decompress(
  file: string,
  format: Format,
  into: PassThrough,
  signal: AbortSignal,
): Promise<void> {
  if (format === "tar") return pipeline(createReadStream(file), into, { signal });
  if (format === "gzip") return pipeline(createReadStream(file), createGunzip(), into, { signal });
  const result = await runTool({
    command: format,
    args: ["--decompress", "--stdout"],
    environment: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    cwd: "/",
    signal,
    input: { file },
    output: (stdout) => pipeline(stdout, into, { signal }),
  });
  if (result.exit !== 0) throw new Error(`${format}: ${result.stderr.trim().split("\n")[0]}`);
}

async function addTarEntry(entry: TarEntry, what: string, tree: TreeWriter): Promise<void> {
  const { header } = entry;
  // It is one, though streamx, whose types these are, does not say so.
  const content = entry as unknown as AsyncIterable<Uint8Array>;
  const path = bytesOf(header, "path", header.name);
  const target = bytesOf(header, "linkpath", header.linkname ?? "");
  switch (header.type) {
    case "file":
    case "contiguous-file": {
      // Releases made by setuptools have it in the extended header alone, which tar-stream passes on unused.
      const extended = header.pax as Record<string, string> | null | undefined;
      const mtime = Number(extended?.mtime ?? (header.mtime?.getTime() ?? 0) / 1000);
      const executable = ((header.mode ?? 0) & 0o111) !== 0;
      await tree.add({ kind: "file", path, executable, mtime: Math.floor(mtime), content });
      break;
    }
    case "directory":
      await tree.add({ kind: "folder", path });
      break;
    case "symlink":
      await tree.add({ kind: "symlink", path, target });
      break;
    case "link":
      await tree.add({ kind: "hardlink", path, target });
      break;
    default:
      throw new CausedError("source_mismatch", `${what}: ${path} is a ${header.type ?? "special file"}`);
  }
  entry.resume();
}

/** Names in pax headers are decoded as UTF-8, all others byte by byte: both become binary strings. */
function bytesOf(header: TarHeader, key: "path" | "linkpath", value: string): string {
  const pax = header.pax as Record<string, string> | null | undefined;
  return pax?.[key] === undefined ? value : Buffer.from(value, "utf8").toString("latin1");
}
