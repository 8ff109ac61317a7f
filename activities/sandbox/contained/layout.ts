/** Where things lie in a container, as sandbox-init expects them; commands of the sandbox see nothing of it. */
const HOME = "/.bench";

/** The engine puts the static sandbox-init here, executable, before the container starts. */
export const BINARY = `${HOME}/bin/sandbox-init`;

/** A private, empty volume on a file system that overlay can write on (not on overlay itself). */
export const VOLUME = `${HOME}/volume`;

/** What the containers of one sandbox share, where it has several: commands, so that none ever runs twice. */
export const SHARED = `${HOME}/shared`;

export const MOUNTS = `${HOME}/mounts`;

/** Where the engine shows spec.mounts[index], a file or a folder: bound by it, or brought by `provide` (below). */
export function mountSource(index: number): string {
  return `${MOUNTS}/${index}`;
}

/** PID 1 ends with it when the sandbox has written more than its disk limit, where no file system holds that limit. */
export const EXIT_DISK = 28;

/** Command line of PID 1. It ends when `begin` does not come within this time, and else at the sandbox's deadline. */
export function entrypoint(waitSeconds: number): string[] {
  return [BINARY, "contained", String(Math.ceil(waitSeconds))];
}

/**
 * Command line of one short call, run as root beside PID 1. Input, where there is one, and answer are framed (frame.ts);
 * the answer's status is `ok`, `refused` (with the reason) or `failed`.
 *
 *   ping                            PID 1 answers (begun or not)
 *   provide                         input: a tar, unpacked by the container's tar under MOUNTS before `begin`
 *   begin                           input: the configuration; answers when the sandbox is ready
 *   ask WORDS…                      one request of the control socket
 *   start NAME ROOT                 input: the command's files; claims and starts it, at most once
 *   poll NAME MILLISECONDS          JSON; waits at most that long for its end
 *   stop NAME                       ends it and waits for it
 *   upload NAME                     input: its standard input, before `start`
 *   read NAME STREAM OFFSET LENGTH  a part of an output
 *   file NAME ROOT LIMIT PATH       one file; a large one is put into the output of NAME
 *   forget NAME                     removes what is kept of an ended command
 */
export function call(...words: string[]): string[] {
  return [BINARY, "call", ...words];
}

/** Where a store's container keeps its files. */
export const STORE = `${HOME}/store`;
export const STORE_PORT = 8620;

/** Command line of PID 1 of a store: files by their sha256, handed out to who names one. */
export function storeEntrypoint(): string[] {
  return [BINARY, "serve", String(STORE_PORT), STORE];
}

/** One call to a store: input is the file of that digest, framed. Of no effect where it is there already. */
export function keepLine(sha256: string): string[] {
  return call("keep", STORE, sha256);
}

/** The call (command line as of `call`) with its framed input from the store at that address. */
export function relayed(address: string, sha256: string, line: readonly string[]): string[] {
  return [BINARY, "relay", address, String(STORE_PORT), sha256, ...line.slice(1)];
}
