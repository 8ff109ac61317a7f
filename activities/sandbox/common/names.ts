import { createHash } from "node:crypto";

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/** An id of the caller's as one path component and one word of the control protocol: itself, or a digest of it. */
export function safeName(id: string): string {
  if (SAFE.test(id)) return id;
  const readable = id.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 40);
  return `x${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}
