import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type CallResult, type FileInput, TransportFault } from "./engine.ts";

/**
 * What goes into and comes out of a call: one line `<status> <bytes> <sha256>` and the bytes. An engine's stream may be
 * cut without an error, so neither side takes the end of a stream for the end of what was sent.
 */
export function frameInput(content: Uint8Array): Uint8Array {
  return Buffer.concat([head(content.byteLength, digest(content)), content]);
}

/** The same of a file, whose size and digest are known. */
export function frameFile(path: string, size: number, sha256: string): FileInput {
  const frame = async function* () {
    yield head(size, sha256);
    if (size > 0) yield* createReadStream(path, { end: size - 1 }) as AsyncIterable<Uint8Array>;
  };
  return Object.assign(frame, { size, sha256 });
}

export interface Answer {
  status: "ok" | "refused" | "failed";
  body: Buffer;
}

/** Reads an answer; throws TransportFault when it is not whole. */
export function parseAnswer(result: CallResult): Answer {
  const end = result.stdout.indexOf(10);
  const line = result.stdout.subarray(0, Math.max(0, end)).toString("latin1");
  const [, status, size, sha256] = /^(ok|refused|failed) (\d+) ([0-9a-f]{64})$/.exec(line) ?? [];
  const body = result.stdout.subarray(end + 1);
  if (status === undefined || body.length !== Number(size) || digest(body) !== sha256) {
    const said = result.stderr.trim() || line || "nothing";
    throw new TransportFault(
      `the answer is not whole (${result.stdout.length} bytes, exit ${result.exit}): ${said.slice(0, 500)}`,
    );
  }
  return { status: status as Answer["status"], body };
}

function head(size: number, sha256: string): Buffer {
  return Buffer.from(`in ${size} ${sha256}\n`);
}

function digest(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
