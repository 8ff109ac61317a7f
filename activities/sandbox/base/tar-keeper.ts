import { constants, copyFile, link, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runTool } from "./tool.ts";
import { type BaseUnpacker, SHELLS } from "./unpack.ts";

/** Name of the tar in a base's folder. */
export const TAR = "base.tar";

/** For engines, which take a base as a tar: it stays one, compressed as it came. */
export const tarKeeper: BaseUnpacker = {
  form: "tar",
  async unpack(tar, target) {
    await mkdir(target, { recursive: true });
    const kept = join(target, TAR);
    // A tar of our own making lies beside the target and goes with its folder; a user's may change later.
    const own = dirname(tar) === dirname(dirname(target));
    if (own) await link(tar, kept);
    else await copyFile(tar, kept, constants.COPYFILE_FICLONE);
  },
  async hasBash(target) {
    const names = await runTool("tar", ["-tf", join(target, TAR)], { remedy: "apt-get install tar" });
    const shells = new Set(SHELLS.flatMap((path) => [path, `./${path}`]));
    return names.split("\n").some((name) => shells.has(name));
  },
  remove: (target) => rm(target, { recursive: true, force: true }),
};
