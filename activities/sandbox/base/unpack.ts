import { lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "./tool.ts";

/** How a driver wants a root file system on disk (the local driver: with the ids its sandboxes are mapped to). */
export interface BaseUnpacker {
  /** Names the form on disk: bases of one digest unpacked differently live side by side. */
  form: string;
  /** Unpacks a tar, plain or compressed, into the new folder `target`. */
  unpack(tar: string, target: string): Promise<void>;
  /** Whether what was unpacked has the shell that commands run by. */
  hasBash(target: string): Promise<boolean>;
  remove(target: string): Promise<void>;
}

export const SHELLS = ["usr/bin/bash", "bin/bash"];

/** `hasBash` of a root file system that is a folder. */
export async function folderHasBash(root: string): Promise<boolean> {
  for (const shell of SHELLS) {
    try {
      await lstat(join(root, shell));
      return true;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    }
  }
  return false;
}

/** With the ids of the tar; needs root for any other than the caller's own. */
export const plainUnpacker: BaseUnpacker = {
  form: "plain",
  async unpack(tar, target) {
    await mkdir(target, { recursive: true });
    const whole = [
      "--numeric-owner",
      "--same-owner",
      "--preserve-permissions",
      "--xattrs",
      "--xattrs-include=*",
    ];
    // Sandboxes get a /dev of their own, and device nodes need privileges.
    const skipped = ["--anchored", "--exclude=./dev/*", "--exclude=dev/*"];
    await runTool("tar", ["-xf", tar, "-C", target, ...whole, ...skipped], { remedy: "apt-get install tar" });
  },
  hasBash: folderHasBash,
  remove: (target) => rm(target, { recursive: true, force: true }),
};
