import { createHash } from "node:crypto";
import { join } from "node:path";

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/** An id of the caller's as one path component and one word of the control protocol: itself, or a digest of it. */
export function safeName(id: string): string {
  if (SAFE.test(id)) return id;
  const readable = id.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 40);
  return `x${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

/** Where the files of one sandbox lie. */
export interface SandboxFolder {
  home: string;
  spec: string;
  /** Holds the control socket and the commands; all of the folder that the sandbox's init sees. */
  control: string;
  exec(execId: string): string;
}

export function sandboxesFolder(stateFolder: string): string {
  return join(stateFolder, "sandboxes");
}

export function sandboxFolder(stateFolder: string, id: string): SandboxFolder {
  const home = join(sandboxesFolder(stateFolder), safeName(id));
  const control = join(home, "ctl");
  return {
    home,
    control,
    spec: join(home, "spec.json"),
    exec: (execId) => join(control, "exec", safeName(execId)),
  };
}
