import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PrepareOptions, prepareBase } from "../../activities/sandbox/base/prepare.ts";
import { plainUnpacker } from "../../activities/sandbox/base/unpack.ts";
import type { SandboxBase } from "../../activities/sandbox/driver.ts";
import { testStateFolder } from "./state.ts";

let prepared: Promise<SandboxBase> | undefined;

/** The default base, made once per machine and then found in the tests' shared state folder. */
export function testBase(): Promise<SandboxBase> {
  prepared ??= prepareBase({ kind: "debian" }, { stateFolder: testStateFolder() });
  return prepared;
}

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "base-test-"));
}

/** For bases whose files are looked at from outside: they keep the ids that they came with. */
export function plainOptions(folder: string): PrepareOptions {
  return { stateFolder: join(folder, "state"), unpacker: plainUnpacker };
}

/** What unfinished makings left in a state folder. */
export async function partialFolders(stateFolder: string): Promise<string[]> {
  return (await readdir(join(stateFolder, "bases", "plain"))).filter((name) => name.startsWith("partial"));
}
