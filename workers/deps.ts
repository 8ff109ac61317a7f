import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { Deps } from "../activities/deps.ts";
import { once } from "../activities/once.ts";
import { fileBlobStore } from "../activities/store/blobs.ts";
import { driversOf } from "./drivers.ts";
import type { TemporalConnectionOptions } from "./temporal-connection.ts";

/** The Temporal server and namespace of what is made; `server` is their name as an owner (`TemporalService.server`). */
export interface Owner {
  server: string;
  connection: TemporalConnectionOptions;
  namespace: string;
}

/** `server` names the Temporal server and namespace that own what is made (`TemporalService.server`). */
export function makeDeps(state: string, { server, connection, namespace }: Owner): Deps {
  const stateFolder = resolve(state);
  const host = hostName(stateFolder);
  return {
    stateFolder,
    host,
    server,
    blobs: fileBlobStore(join(stateFolder, "blobs")),
    driver: driversOf({ stateFolder, host, server }),
    client: once(async () => new Client({ connection: await Connection.connect(connection), namespace })),
  };
}

/** Two state folders of one machine hold different sandboxes, so they are two hosts. */
function hostName(stateFolder: string): string {
  return `${hostname()}-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 8)}`;
}
