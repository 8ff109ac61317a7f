import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { type Extract, extract } from "tar-stream";
import { CausedError } from "../../errors.ts";

/** One layer of an image: a tar, plain or compressed with gzip or zstd. */
export interface Layer {
  path: string;
  /** sha256 of the tar inside, as the image's config says. */
  diffId: string;
}

/** An entry while it is read: its header and its content as a stream. */
export type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

/**
 * Calls `visit` with each entry of the layer and its index; the entry's content is for `visit` to read or leave.
 * Throws CausedError `image_pull` when the layer is broken or is not what the config says.
 */
export async function readLayer(
  layer: Layer,
  visit: (entry: Entry, index: number) => Promise<void>,
): Promise<void> {
  const hash = createHash("sha256");
  const entries = extract();
  const feeding = pipeline([
    createReadStream(layer.path),
    ...(await decompressor(layer.path)),
    tee(hash),
    entries,
  ]);
  // A broken stream ends the loop below as well; `feeding` is what says why.
  const reading = readEntries(entries, visit);
  const [fed, read] = await Promise.allSettled([feeding, reading]);
  const failed = [fed, read].find((result) => result.status === "rejected");
  if (failed?.status === "rejected") {
    const reason = failed.reason as Error;
    if (reason instanceof CausedError) throw reason;
    throw new CausedError("image_pull", `layer ${layer.path} is broken: ${reason.message}`, {
      cause: reason,
    });
  }
  const found = hash.digest("hex");
  if (found !== layer.diffId) {
    throw new CausedError(
      "image_pull",
      `layer ${layer.path}: sha256 is ${found}, the image says ${layer.diffId}`,
    );
  }
}

async function readEntries(
  entries: Extract,
  visit: (entry: Entry, index: number) => Promise<void>,
): Promise<void> {
  let index = 0;
  for await (const entry of entries) {
    await visit(entry, index++);
    entry.resume();
  }
}

function tee(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

async function decompressor(path: string): Promise<Transform[]> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.readUInt16BE(0) === 0x1f8b) return [createGunzip()];
    return buffer.readUInt32LE(0) === 0xfd2fb528 ? [createZstdDecompress()] : [];
  } finally {
    await file.close();
  }
}
