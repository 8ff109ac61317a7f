import type { SandboxRef } from "../../workflows/types.ts";
import type { SandboxDriver } from "../sandbox/driver.ts";
import type { Watch } from "../sandbox/run-command.ts";
import type { BlobStore } from "../store/blobs.ts";

export const REPOSITORY = "/workspace/repo";

/** What every stage of verification works on. */
export interface VerifyContext {
  driver: SandboxDriver;
  /** A replayed sandbox, made with `verifierMounts()`. */
  sandbox: SandboxRef;
  /** Which of its roots: `main`, or a fork's name. */
  root: string;
  blobs: BlobStore;
  /** The attempt's run folder on this machine. */
  folder: string;
  /** Ids of execs begin with it; the same prefix finds the same execs again. */
  prefix: string;
  /** The artifact's own word for its interpreter: a path to a Python or to a virtual environment. */
  interpreter: string | null;
  watch: Watch;
}
