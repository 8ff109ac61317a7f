import type { Duplex } from "node:stream";
import type Docker from "dockerode";
import { type CallInput, type CallResult, TransportFault } from "../contained/engine.ts";
import { isConnectionFault, isStatus, messageOf } from "./client.ts";

/** A call that says nothing for this long has lost its connection. */
const SILENCE_MS = 75_000;
/** No answer is longer: parts of outputs are 4 MiB. */
const MOST_BYTES = 16 << 20;
const MOST_STDERR = 64 << 10;
const HEAD = 8;

/**
 * Runs one command in the container over one connection. Throws TransportFault when the connection fails, and passes
 * the engine's 404 and 409 (no such, or no running container) on.
 */
export async function execInContainer(
  container: Docker.Container,
  argv: readonly string[],
  input: CallInput | null,
): Promise<CallResult> {
  const exec = await faults(() =>
    container.exec({
      Cmd: [...argv],
      AttachStdin: input !== null,
      AttachStdout: true,
      AttachStderr: true,
      User: "0:0",
    }),
  );
  const stream = await faults(() => exec.start({ hijack: true, stdin: input !== null }));
  const result = await faults(() => converse(stream, input));
  if (result.stdout.length > 0) return { exit: null, ...result };
  const { ExitCode } = await faults(() => exec.inspect());
  return { exit: ExitCode, ...result };
}

async function faults<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof TransportFault || isStatus(error, 404, 409)) throw error;
    // 500: the engine's runtime could not start it, as when the container ends meanwhile.
    if (isConnectionFault(error) || isStatus(error, 500, 502, 503, 504)) {
      throw new TransportFault(`the engine: ${messageOf(error)}`, { cause: error });
    }
    throw error;
  }
}

/** Sends the input and takes the answer until the engine ends it; the input's end is never waited for. */
async function converse(
  stream: Duplex,
  input: CallInput | null,
): Promise<{ stdout: Buffer; stderr: string }> {
  const output = demultiplexer();
  let timer = setTimeout(silent, SILENCE_MS);
  function silent() {
    stream.destroy(new TransportFault(`no answer for ${SILENCE_MS / 1000} s`));
  }
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(silent, SILENCE_MS);
  };
  // Only the input itself fails here, such as a file that can't be read; a refusal that ends the stream early does not.
  const sending =
    input === null ? null : send(stream, input, heard).catch((error) => void stream.destroy(error));
  try {
    for await (const chunk of stream) {
      heard();
      output.take(chunk as Buffer);
    }
  } finally {
    clearTimeout(timer);
    stream.destroy();
    await sending;
  }
  return output.result();
}

async function send(stream: Duplex, input: CallInput, heard: () => void): Promise<void> {
  const chunks = typeof input === "function" ? input() : [input];
  for await (const chunk of chunks) {
    if (stream.destroyed) return;
    heard();
    if (!stream.write(chunk)) await drained(stream);
  }
}

function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off("drain", go).off("close", go);
      resolve();
    };
    stream.on("drain", go).on("close", go);
    if (stream.destroyed) go();
  });
}

/** Takes Docker's frames apart: one byte for the stream, three of nothing, four for the length. */
function demultiplexer() {
  const streams: [Buffer[], Buffer[]] = [[], []];
  const sizes = [0, 0];
  let rest: Buffer = Buffer.alloc(0);
  return {
    take(chunk: Buffer) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length >= HEAD) {
        const length = rest.readUInt32BE(4);
        if (rest.length < HEAD + length) return;
        const index = rest[0] === 2 ? 1 : 0;
        sizes[index] = (sizes[index] ?? 0) + length;
        if ((sizes[0] ?? 0) > MOST_BYTES)
          throw new TransportFault(`an answer of more than ${MOST_BYTES} bytes`);
        if (index === 0 || (sizes[1] ?? 0) <= MOST_STDERR)
          streams[index].push(rest.subarray(HEAD, HEAD + length));
        rest = rest.subarray(HEAD + length);
      }
    },
    result: () => ({ stdout: Buffer.concat(streams[0]), stderr: Buffer.concat(streams[1]).toString() }),
  };
}
