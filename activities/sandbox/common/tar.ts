import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import type { SandboxDriver } from "../driver.ts";
import { runCommand } from "../run-command.ts";

const SECONDS = 3_600;
const MESSAGE_BYTES = 2_000;

const UNPACK = 'mkdir -p -- "$TARGET" && exec tar -xf - -C "$TARGET" --no-same-owner';
const PACK =
  'if [ -d "$TARGET" ]; then exec tar -cf - -C "$TARGET" .; fi; exec tar -cf - -C "$(dirname -- "$TARGET")" -- "$(basename -- "$TARGET")"';
/** GNU tar's exit code for files that changed while they were read. */
const CHANGED = 1;

export interface TarPlace {
  driver: SandboxDriver;
  ref: SandboxRef;
  root: string;
  path: string;
}

/** Unpacks the standard input of the command `id`, which is there already, with the sandbox's own tar. */
export async function unpackTar(place: TarPlace, id: string): Promise<void> {
  await runTar(place, id, UNPACK, 0, 65_536);
}

/** Packs a folder's content, or one file, into the output of the command `id`. */
export async function packTar(place: TarPlace, id: string, outputBytes: number): Promise<number> {
  return runTar(place, id, PACK, CHANGED, outputBytes);
}

async function runTar(
  place: TarPlace,
  id: string,
  command: string,
  allowed: number,
  outputBytes: number,
): Promise<number> {
  const { driver, ref, root, path } = place;
  const ended = await runCommand(driver, ref, {
    id,
    root,
    command,
    cwd: "/",
    environment: { TARGET: path },
    seconds: SECONDS,
    outputBytes,
    stdin: null,
  });
  if (ended.end === "exited" && ended.exit !== null && ended.exit <= allowed) return ended.stdoutBytes;
  const { text } = await driver.read(ref, id, "stderr", { head: 0, tail: MESSAGE_BYTES });
  throw new CausedError(
    "sandbox_lost",
    `tar of ${path} in the sandbox failed (${ended.end}, exit ${ended.exit}): ${text.trim()}`,
  );
}
