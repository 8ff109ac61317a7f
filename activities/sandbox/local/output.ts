import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { excerpt } from "../common/excerpt.ts";
import type { Output, Stream } from "../driver.ts";
import type { SandboxFolder } from "./folders.ts";

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
    return await excerpt(bytes, size, async (start, length) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    });
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
