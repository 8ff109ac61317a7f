import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { writeFileAtomically } from "../../../results/atomic-file.ts";
import { CausedError } from "../../errors.ts";
import { configText } from "../common/config.ts";
import type { SandboxSpec } from "../driver.ts";
import type { SandboxFolder } from "./folders.ts";
import type { IdMap } from "./id-map.ts";

/** A sandbox's `spec.json`: what a new worker needs to take it over. */
export interface StoredSpec {
  spec: SandboxSpec;
  createdAt: string;
}

export async function readSpec(sandbox: SandboxFolder): Promise<StoredSpec | null> {
  try {
    return JSON.parse(await readFile(sandbox.spec, "utf8")) as StoredSpec;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export async function needSpec(sandbox: SandboxFolder): Promise<StoredSpec> {
  const stored = await readSpec(sandbox);
  if (stored === null)
    throw new CausedError("sandbox_lost", `the sandbox in ${sandbox.home} is gone (no spec.json)`);
  return stored;
}

export async function writeSpec(sandbox: SandboxFolder, spec: SandboxSpec): Promise<void> {
  await writeFileAtomically(sandbox.spec, JSON.stringify({ spec, createdAt: new Date().toISOString() }));
}

/** The keeper's `config`. Throws on what its lines can't carry. */
export function keeperConfig(sandbox: SandboxFolder, spec: SandboxSpec, map: IdMap, volume: boolean): string {
  return configText(spec, {
    id: groupName(sandbox),
    base: spec.base.location,
    id_base: map.user,
    group_base: map.group,
    volume: volume ? 1 : 0,
    mounts: spec.mounts,
  });
}

/** Names the control group: unique on the machine, where two state folders may use one sandbox id. */
function groupName(sandbox: SandboxFolder): string {
  return `${basename(sandbox.home)}-${createHash("sha256").update(sandbox.home).digest("hex").slice(0, 8)}`;
}

/** Root's files are another's inside: what only root can read would be there and unreadable. */
export async function checkMounts(spec: SandboxSpec, map: IdMap): Promise<void> {
  for (const { source } of spec.mounts) {
    const info = await stat(source).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`mount source ${source}: ${error.code}. Remedy: give a file or folder that exists`);
    });
    const needed = info.isDirectory() ? 0o5 : 0o4;
    if (map.root && (info.mode & needed) !== needed) {
      throw new Error(`mount source ${source} can't be read by others. Remedy: chmod o+rX ${source}`);
    }
  }
}
