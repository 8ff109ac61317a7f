import { mkdir, rm } from "node:fs/promises";
import { runTool } from "./tool.ts";

/** How a driver wants a root file system on disk (the local driver: with the ids its sandboxes are mapped to). */
export interface BaseUnpacker {
  /** Names the form on disk: bases of one digest unpacked differently live side by side. */
  form: string;
  /** Unpacks a tar, plain or compressed, into the new folder `target`. */
  unpack(tar: string, target: string): Promise<void>;
  remove(target: string): Promise<void>;
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
  remove: (target) => rm(target, { recursive: true, force: true }),
};
