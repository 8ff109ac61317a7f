import { type FileHandle, open } from "node:fs/promises";
import { connect } from "node:net";
import { CausedError } from "../../errors.ts";
import { Refused } from "../common/refused.ts";
import type { SandboxFolder } from "./folders.ts";

/** What the sandbox's init answered: its line without `ok`, and the bytes that followed. */
export interface Answer {
  words: string[];
  body: Buffer;
}

const PATIENCE_MS = 120_000;

/**
 * One request to the sandbox's init. Throws CausedError `sandbox_lost` when there is none, Refused when it says no.
 * The socket is reached through the folder's descriptor: its path may be longer than the 108 bytes of a socket address.
 */
export async function control(sandbox: SandboxFolder, words: readonly string[]): Promise<Answer> {
  let folder: FileHandle;
  try {
    folder = await open(sandbox.control, "r");
  } catch (error) {
    throw lost(sandbox, error);
  }
  try {
    const reply = await exchange(`/proc/self/fd/${folder.fd}/ctl.sock`, `${words.join("\t")}\n`).catch(
      (error) => {
        throw lost(sandbox, error);
      },
    );
    return parse(sandbox, words.join(" "), reply);
  } finally {
    await folder.close();
  }
}

function exchange(path: string, request: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    // Half-open: init answers before it closes.
    const socket = connect({ path, allowHalfOpen: true }, () => socket.write(request));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error("no answer")));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("end", () => {
      socket.end();
      resolve(Buffer.concat(chunks));
    });
  });
}

function parse(sandbox: SandboxFolder, request: string, reply: Buffer): Answer {
  const end = reply.indexOf(10);
  if (end < 0) throw lost(sandbox, new Error(`no answer to ${request}`));
  const line = reply.subarray(0, end).toString();
  const words = line.split(" ");
  if (words[0] !== "ok") throw new Refused(request, line.replace(/^error /, ""));
  return { words: words.slice(1), body: reply.subarray(end + 1) };
}

function lost(sandbox: SandboxFolder, cause: unknown): CausedError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CausedError("sandbox_lost", `the sandbox in ${sandbox.home} is gone (${why})`, { cause });
}
