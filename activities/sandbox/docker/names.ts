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
} as const;

/** The network that all sandboxes of an engine share; they do not reach each other over it. */
export const NETWORK = `${PREFIX}-sandboxes`;
/** Repository of the images that are made from the harness's bases. */
export const IMAGES = `${PREFIX}-base`;

/** Two installations may use the same sandbox id on one engine. */
export function containerName(installation: string, sandboxId: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([installation, sandboxId]))
    .digest("hex");
  return `bench-${digest.slice(0, 24)}`;
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
