import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { CausedError } from "../../errors.ts";
import { safeName } from "../common/names.ts";
import { Refused } from "../common/refused.ts";
import { packTar, type TarPlace, unpackTar } from "../common/tar.ts";
import type { Caller } from "./calls.ts";
import { openOutput, upload } from "./commands.ts";

interface Place extends TarPlace {
  calls: Caller;
}

/**
 * Unpacks the stream with the sandbox's own tar. The id is the content's: whoever asks again while an earlier worker's
 * tar still runs waits for that one, and no late tar overwrites what came after it.
 */
export async function putTar(place: Place, tar: Readable): Promise<void> {
  const { calls, ref, root, path } = place;
  // Kept here first: the size and the digest go before the content, and a cut stream is sent again.
  const folder = await mkdtemp(join(tmpdir(), "bench-put-"));
  try {
    const file = join(folder, "tar");
    const { bytes, sha256 } = await receive(tar, file);
    const place_ = createHash("sha256").update(JSON.stringify([root, path, sha256]));
    const id = `put-${place_.digest("hex").slice(0, 40)}`;
    try {
      await upload(calls, ref, id, { path: file, bytes, sha256 });
      await unpackTar(place, id);
    } finally {
      await forget(calls, place, id);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function receive(tar: Readable, file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  const output = await open(file, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const chunk of tar) {
      hash.update(chunk as Buffer);
      await output.writeFile(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } finally {
    await output.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** A tar stream of a folder's content, or of one file. Its copy in the container goes when the stream is closed. */
export async function getTar(place: Place): Promise<Readable> {
  const { calls, ref } = place;
  const id = `get-${randomUUID()}`;
  try {
    // A sparse file is longer than any disk: no more than the sandbox's own disk could hold comes out of it.
    await packTar(place, id, 0);
  } catch (error) {
    await forget(calls, place, id);
    throw error;
  }
  return forgetting(place, id, openOutput({ calls, ref, execId: id, stream: "stdout" }));
}

function forgetting(place: Place, id: string, stream: Readable): Readable {
  const clean = () => forget(place.calls, place, id);
  stream.on(
    "close",
    () => void clean().catch((error) => process.emitWarning(`${place.ref.id}: ${id}: ${error.message}`)),
  );
  return stream;
}

/** What is kept of a transfer goes with a lost sandbox as well. */
async function forget(calls: Caller, { ref }: TarPlace, id: string): Promise<void> {
  try {
    await calls(ref, ["forget", id]);
  } catch (error) {
    if (!(error instanceof CausedError)) throw error;
  }
}

/** One regular file; null when missing. */
export async function readSandboxFile(
  { calls, ref, root, path }: Place,
  limit: number,
): Promise<Buffer | null> {
  if (/[\t\n\0]/.test(path)) throw new Error(`path ${JSON.stringify(path)} has a tab or line break`);
  const id = `file-${randomUUID()}`;
  const name = safeName(root);
  const body = await calls(ref, ["file", id, name, String(limit), path], { root: name });
  const end = body.indexOf(10);
  const line = body.subarray(0, end).toString();
  if (line === "missing") return null;
  const [, status, size] = /^(ok|kept) (\d+)$/.exec(line) ?? [];
  if (status === "ok") return body.subarray(end + 1);
  if (status === undefined) throw new Refused(`file ${path}`, line.replace(/^error /, ""));
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of openOutput({ calls, ref, execId: id, stream: "stdout" }))
      chunks.push(chunk as Buffer);
    const content = Buffer.concat(chunks);
    if (content.length !== Number(size)) throw new Error(`${path} changed while it was read`);
    return content;
  } finally {
    await forget(calls, { ref } as TarPlace, id);
  }
}
