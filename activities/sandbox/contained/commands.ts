import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import { environmentBlock } from "../common/environment.ts";
import { excerpt } from "../common/excerpt.ts";
import { safeName } from "../common/names.ts";
import { Refused } from "../common/refused.ts";
import type { ExecSpec, ExecStatus, Output, Patience, Stream } from "../driver.ts";
import type { Caller } from "./calls.ts";
import { TransportFault } from "./engine.ts";
import { frameFile, frameInput } from "./frame.ts";

/** A poll holds a connection of the engine no longer than this. */
const LONGEST_WAIT_MS = 5_000;
const PART_BYTES = 4 << 20;

/** `outputBytes` 0: as much as the sandbox's disk holds. */
export async function startCommand(calls: Caller, ref: SandboxRef, exec: ExecSpec): Promise<void> {
  const name = safeName(exec.id);
  if (exec.stdin !== null) await uploadFile(calls, ref, name, exec.stdin);
  const input = frameInput(
    sections({
      command: exec.command,
      cwd: exec.cwd,
      limits: `${exec.seconds} ${Math.floor(exec.outputBytes)}`,
      environment: environmentBlock(exec.environment),
    }),
  );
  const root = safeName(exec.root);
  await calls(ref, ["start", name, root], { input, root });
}

/** Puts a file of this machine into the place of the command's standard input, before it is started. */
async function uploadFile(calls: Caller, ref: SandboxRef, name: string, path: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  await upload(calls, ref, name, { path, bytes: (await stat(path)).size, sha256: hash.digest("hex") });
}

export async function upload(
  calls: Caller,
  ref: SandboxRef,
  name: string,
  file: { path: string; bytes: number; sha256: string },
): Promise<void> {
  await calls(ref, ["upload", name], { input: frameFile(file.path, file.bytes, file.sha256) });
}

export async function pollCommand(
  calls: Caller,
  ref: SandboxRef,
  execId: string,
  patience?: Patience,
): Promise<ExecStatus> {
  const wait = Math.min(patience?.waitMs ?? 0, LONGEST_WAIT_MS);
  const options = patience?.signal ? { signal: patience.signal } : {};
  const words = ["poll", safeName(execId), String(Math.round(wait))];
  const body = await wherever((root) => calls(ref, words, { ...options, ...root }));
  return JSON.parse(body.toString()) as ExecStatus;
}

/** Ends the command's processes, daemons that it left behind included, and waits for it. */
export async function stopCommand(calls: Caller, ref: SandboxRef, execId: string): Promise<void> {
  const words = ["stop", safeName(execId)];
  const stop = async (options: { root?: string }) => {
    try {
      return await calls(ref, words, options);
    } catch (error) {
      // The main container has just answered: this one was dropped, and what ran in it has ended.
      const gone = error instanceof CausedError && !(error.cause instanceof TransportFault);
      if (options.root === undefined || !gone) throw error;
      return Buffer.alloc(0);
    }
  };
  while ((await wherever(stop)).toString() === "alive");
}

/** Asks the main container, and when that names another of the sandbox as the command's, that one. */
async function wherever(ask: (options: { root?: string }) => Promise<Buffer>): Promise<Buffer> {
  try {
    return await ask({});
  } catch (error) {
    const root = error instanceof Refused ? /^elsewhere (\S+)$/.exec(error.answer)?.[1] : undefined;
    if (root === undefined) throw error;
    return ask({ root });
  }
}

/** Where an output is. */
export interface Source {
  calls: Caller;
  ref: SandboxRef;
  execId: string;
  stream: Stream;
}

export async function readOutput(source: Source, size: { head: number; tail: number }): Promise<Output> {
  // Most outputs are no longer than what is asked for: then one call is all.
  const first = await readPart(source, 0, size.head + size.tail);
  return excerpt(first.total, size, async (start, length) => {
    if (start + length <= first.content.length) return first.content.subarray(start, start + length);
    const parts: Buffer[] = [];
    for (let done = 0; done < length; ) {
      const { content } = await readPart(source, start + done, length - done);
      if (content.length === 0) break;
      parts.push(content);
      done += content.length;
    }
    return Buffer.concat(parts);
  });
}

/** The output from its start to its present end, in parts that are each checked and asked for again when cut. */
export function openOutput(source: Source): Readable {
  return Readable.from(parts(source), { objectMode: false });
}

async function* parts(source: Source): AsyncGenerator<Buffer> {
  for (let offset = 0; ; ) {
    const { content } = await readPart(source, offset, PART_BYTES);
    if (content.length > 0) yield content;
    offset += content.length;
    if (content.length < PART_BYTES) return;
  }
}

async function readPart(
  { calls, ref, execId, stream }: Source,
  offset: number,
  length: number,
): Promise<{ total: number; content: Buffer }> {
  const words = ["read", safeName(execId), stream, String(offset), String(Math.min(length, PART_BYTES))];
  const body = await calls(ref, words);
  const end = body.indexOf(10);
  return { total: Number(body.subarray(0, end).toString()), content: body.subarray(end + 1) };
}

function sections(contents: Record<string, string>): Buffer {
  const all = Object.entries(contents).flatMap(([name, content]) => {
    const bytes = Buffer.from(content);
    return [Buffer.from(`${name} ${bytes.length}\n`), bytes];
  });
  return Buffer.concat(all);
}
