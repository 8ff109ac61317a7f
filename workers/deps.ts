import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import type { Deps } from "../activities/deps.ts";
import { fileBlobStore } from "../activities/store/blobs.ts";
import { driversOf } from "./drivers.ts";

/** `server` names the Temporal server and namespace that own what is made (`TemporalService.server`). */
export function makeDeps(state: string, server: string): Deps {
  const stateFolder = resolve(state);
  const host = hostName(stateFolder);
  return {
    stateFolder,
    host,
    server,
    blobs: fileBlobStore(join(stateFolder, "blobs")),
    driver: driversOf({ stateFolder, host, server }),
  };
}

/** Two state folders of one machine hold different sandboxes, so they are two hosts. */
function hostName(stateFolder: string): string {
  return `${hostname()}-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 8)}`;
}
