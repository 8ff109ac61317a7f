import { createHash } from "node:crypto";
import type { SandboxOwner } from "../driver.ts";

const PREFIX = "setup-bench";

export const LABELS = {
  /** The state folder's host name: whose sandbox it is. */
  installation: `${PREFIX}.installation`,
  role: `${PREFIX}.role`,
  sandbox: `${PREFIX}.sandbox`,
  created: `${PREFIX}.created`,
  /** What PID 1 was given, for workers that did not make it. */
  provided: `${PREFIX}.provided`,
  server: `${PREFIX}.server`,
  sweep: `${PREFIX}.sweep`,
  run: `${PREFIX}.run`,
  attempt: `${PREFIX}.attempt`,
  workflow: `${PREFIX}.workflow`,
  /** Of sandboxes that may have several containers: what all of them are made by. */
  spec: `${PREFIX}.spec`,
  /** Which root a container is, with what it took over; without it, the first of a sandbox. */
  succession: `${PREFIX}.succession`,
  /** The frame that a container was made to go back to, and how many were below it. */
  popped: `${PREFIX}.popped`,
} as const;

/** The network that all sandboxes of an engine share; they do not reach each other over it. */
export const NETWORK = `${PREFIX}-sandboxes`;
/** Repository of the images that are made from the harness's bases. */
export const IMAGES = `${PREFIX}-base`;

/** Repository of the images that are frames of sandboxes. */
export const FRAMES = `${PREFIX}-frame`;

/** Two installations may use the same sandbox id on one engine. */
export function containerName(installation: string, sandboxId: string): string {
  return `bench-${digestOf(installation, sandboxId)}`;
}

/** Container of a root, where each has its own. */
export function rootName(installation: string, sandboxId: string, root: string): string {
  const main = containerName(installation, sandboxId);
  return root === "main" ? main : `${main}-${digestOf(root)}`;
}

/** The root's container that is to come, until the one before it is gone. */
export function nextName(name: string): string {
  return `${name}-next`;
}

/** Volume that all containers of the sandbox share. */
export function sharedVolume(installation: string, sandboxId: string): string {
  return `${containerName(installation, sandboxId)}-shared`;
}

/** What the tags of a root's images begin with. */
export function tagPrefix(installation: string, sandboxId: string, root: string): string {
  return digestOf(installation, sandboxId, root);
}

function digestOf(...words: string[]): string {
  return createHash("sha256").update(JSON.stringify(words)).digest("hex").slice(0, 24);
}

export function ownerLabels(owner: SandboxOwner): Record<string, string> {
  return {
    [LABELS.server]: owner.server,
    [LABELS.sweep]: owner.sweep,
    [LABELS.run]: owner.run,
    [LABELS.attempt]: String(owner.attempt),
    [LABELS.workflow]: owner.workflow,
  };
}

export function ownerOf(labels: Readonly<Record<string, string>>): SandboxOwner {
  return {
    server: labels[LABELS.server] ?? "",
    sweep: labels[LABELS.sweep] ?? "",
    run: labels[LABELS.run] ?? "",
    attempt: Number(labels[LABELS.attempt] ?? 0),
    workflow: labels[LABELS.workflow] ?? "",
  };
}
