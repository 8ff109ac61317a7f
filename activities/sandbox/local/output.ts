import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Output, Stream } from "../driver.ts";
import type { SandboxFolder } from "./names.ts";

/** The first `head` and last `tail` bytes of an output, with a line between them that says how much is left out. */
export async function readOutput(
  sandbox: SandboxFolder,
  execId: string,
  stream: Stream,
  size: { head: number; tail: number },
): Promise<Output> {
  const file = await openOutputFile(sandbox.exec(execId), stream);
  if (file === null) return { text: "", bytes: 0, omitted: 0 };
  try {
    const bytes = (await file.stat()).size;
    const part = async (start: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    };
    if (bytes <= size.head + size.tail) return { text: (await part(0, bytes)).toString(), bytes, omitted: 0 };
    const omitted = bytes - size.head - size.tail;
    const head = wholeCharacters(await part(0, size.head));
    const tail = size.tail === 0 ? "" : wholeCharacters(await part(bytes - size.tail, size.tail));
    return {
      text: size.tail === 0 ? head : `${head}\n[… ${omitted} bytes left out …]\n${tail}`,
      bytes,
      omitted,
    };
  } finally {
    await file.close();
  }
}

/** Null for a command whose supervisor has not come to open it yet. */
async function openOutputFile(command: string, stream: Stream): Promise<FileHandle | null> {
  try {
    return await open(join(command, stream), "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await stat(command);
    return null;
  }
}

/** Decodes UTF-8 without the halves of characters that a cut left at the ends. */
function wholeCharacters(bytes: Buffer): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start++;
  let end = bytes.length;
  let lead = end - 1;
  while (lead > Math.max(start, end - 4) && isContinuation(bytes[lead])) lead--;
  if (lead >= start && lead + characterLength(bytes[lead] ?? 0) > end) end = lead;
  return bytes.subarray(start, end).toString();
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
