import { createHash } from "node:crypto";
import type { SandboxOwner } from "../driver.ts";

const PREFIX = "setup-bench";
/** Kubernetes takes these as they are, as label values and (lower case) in names. */
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

export const CONTAINER = "sandbox";

export const LABELS = {
  installation: `${PREFIX}/installation`,
  role: `${PREFIX}/role`,
  sandbox: `${PREFIX}/sandbox`,
  sweep: `${PREFIX}/sweep`,
  run: `${PREFIX}/run`,
  attempt: `${PREFIX}/attempt`,
  /** Read by the network policies of the sandbox namespace. */
  network: `${PREFIX}/network`,
  /** Which pods of a warm pool are alike. */
  shape: `${PREFIX}/shape`,
} as const;

/** Full values, which labels can't carry. */
export const ANNOTATIONS = {
  id: `${PREFIX}/id`,
  owner: `${PREFIX}/owner`,
  /** Requests and limits as they were asked for, for the record. */
  resources: `${PREFIX}/resources`,
  /** What the pod's PID 1 was given, for workers that did not make it. */
  privilege: `${PREFIX}/privilege`,
  /** Digest of the mounts that it is brought. */
  mounts: `${PREFIX}/mounts`,
  /** What a pod that was made ahead of need has been found to be from inside. */
  inside: `${PREFIX}/inside`,
} as const;

export type Role = "sandbox" | "warm" | "store";

function digest(parts: readonly string[], length: number): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, length);
}

/** A DNS label, the same for the same parts on every worker. */
export function objectName(kind: string, ...parts: readonly string[]): string {
  return `bench-${kind}-${digest(parts, 24)}`;
}

export function podName(installation: string, sandboxId: string): string {
  return objectName("sb", installation, sandboxId);
}

/** The value itself where Kubernetes takes it, else a digest of it. */
export function labelValue(value: string): string {
  return LABEL_VALUE.test(value) ? value : `x${digest([value], 32)}`;
}

export function ownerLabels(owner: SandboxOwner): Record<string, string> {
  return {
    [LABELS.sweep]: labelValue(owner.sweep),
    [LABELS.run]: labelValue(owner.run),
    [LABELS.attempt]: String(owner.attempt),
  };
}

/** `a=b,c=d`: all that an installation has in the namespace, or one role of it. */
export function selector(installation: string, role: Role | null): string {
  const mine = `${LABELS.installation}=${labelValue(installation)}`;
  return role === null ? mine : `${mine},${LABELS.role}=${role}`;
}
