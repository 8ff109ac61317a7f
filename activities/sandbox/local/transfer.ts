import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CausedError } from "../../errors.ts";
import { packTar, type TarPlace, unpackTar } from "../common/tar.ts";
import { openOutput } from "./commands.ts";
import type { SandboxFolder } from "./folders.ts";
import { needSpec } from "./spec.ts";

interface Place extends TarPlace {
  sandbox: SandboxFolder;
}

/**
 * Unpacks the stream with the sandbox's own tar. The id is the content's: whoever asks again while an earlier worker's
 * tar still runs waits for that one, and no late tar overwrites what came after it.
 */
export async function putTar(place: Place, tar: Readable): Promise<void> {
  const draft = join(place.sandbox.control, `put-${randomUUID()}.tar`);
  try {
    const id = `put-${await receive(place, tar, draft)}`;
    const folder = place.sandbox.exec(id);
    await mkdir(folder, { recursive: true });
    await rename(draft, join(folder, "stdin"));
    try {
      await unpackTar(place, id);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Writes the stream into the file; gives the digest of content and target. */
async function receive({ sandbox, root, path }: Place, tar: Readable, file: string): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([root, path]));
  async function* hashed(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(tar, hashed, createWriteStream(file, { mode: 0o644 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CausedError("sandbox_lost", `the sandbox in ${sandbox.home} is gone`, { cause: error });
  }
  return hash.digest("hex").slice(0, 40);
}

/** A tar stream of a folder's content, or of one file. Its copy on the host goes when the stream is closed. */
export async function getTar(place: Place): Promise<Readable> {
  // A sparse file is longer than any disk: no more than the sandbox's own disk could hold comes out of it.
  const { spec } = await needSpec(place.sandbox);
  const id = `get-${randomUUID()}`;
  const folder = place.sandbox.exec(id);
  const clean = () => rm(folder, { recursive: true, force: true });
  try {
    await packTar(place, id, spec.limits.diskBytes);
  } catch (error) {
    await clean();
    throw error;
  }
  const stream = openOutput(place.sandbox, id, "stdout");
  stream.on("close", () => void clean().catch((error) => process.emitWarning(`${folder}: ${error.message}`)));
  return stream;
}
