import { createReadStream } from "node:fs";
import { chown, mkdir, open } from "node:fs/promises";
import { resolve } from "node:path";
import { execa } from "execa";
import { CausedError } from "../../errors.ts";
import { type BaseUnpacker, folderHasBash } from "../base/unpack.ts";
import { initBinary } from "../common/init-binary.ts";
import { idMap } from "./id-map.ts";

/** How the local driver wants its bases: with the ids that its sandboxes are mapped to. */
export function localUnpacker(stateFolder: string): BaseUnpacker {
  const state = resolve(stateFolder);
  const { root, user, group } = idMap();
  return {
    form: root ? "mapped" : `mapped-${user}-${group}`,
    unpack: (tar, target) => unpackBase(state, tar, target),
    hasBash: folderHasBash,
    remove: (target) => removeMapped(state, target),
  };
}

const TAR = ["tar", "-x", "--numeric-owner", "--same-owner", "--preserve-permissions", "--anchored"];
const DECOMPRESSORS: readonly [RegExp, string][] = [
  [/^1f8b/, "-z"],
  [/^fd377a585a00/, "-J"],
  [/^28b52ffd/, "--zstd"],
  [/^425a68/, "-j"],
];

/** Unpacks a tar, plain or compressed, into the new folder `target`, under the ids of sandboxes. Device nodes are left out. */
async function unpackBase(stateFolder: string, tar: string, target: string): Promise<void> {
  const binary = await initBinary(stateFolder);
  const { root, user, group } = idMap();
  await mkdir(target, { recursive: true, mode: 0o755 });
  if (root) await chown(target, user, group);
  const compression = await decompressor(tar);
  // Through stdin and the working folder: the mapped root may not walk through the folders above them.
  const command = [...TAR, ...compression, "--exclude=./dev/*", "--exclude=dev/*", "-f", "-"];
  const result = await execa(binary, ["mapped", String(user), String(group), ...command], {
    cwd: target,
    input: createReadStream(tar),
    reject: false,
  });
  if (result.failed) {
    throw new CausedError("image_pull", `cannot unpack ${tar} into ${target}: ${result.stderr.slice(-500)}`);
  }
}

/** Removes a folder whose files belong to mapped ids. */
export async function removeMapped(stateFolder: string, target: string): Promise<void> {
  const { root, user, group } = idMap();
  const command = ["rm", "-rf", "--", resolve(target)];
  // Root may remove anything; a user's mapped root is that user plus its subordinate ids.
  const wrapped = root
    ? command
    : [await initBinary(stateFolder), "mapped", String(user), String(group), ...command];
  const [file, ...args] = wrapped as [string, ...string[]];
  const result = await execa(file, args, { reject: false });
  if (result.failed) throw new Error(`cannot remove ${target}: ${result.stderr.slice(-500)}`);
}

async function decompressor(tar: string): Promise<string[]> {
  const file = await open(tar, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(6), 0, 6, 0);
    const magic = buffer.toString("hex");
    return DECOMPRESSORS.filter(([pattern]) => pattern.test(magic)).map(([, flag]) => flag);
  } finally {
    await file.close();
  }
}
