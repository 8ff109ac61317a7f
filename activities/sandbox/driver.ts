import type { Readable } from "node:stream";
import type { SandboxRef } from "../../workflows/types.ts";

/** Owner labels of a sandbox: who may reap it is decided by asking `server` whether `workflow` is still open. */
export interface SandboxOwner {
  /** Names the Temporal server and namespace of `workflow`, whatever its address; letters, digits and dashes. */
  server: string;
  sweep: string;
  run: string;
  attempt: number;
  /** Temporal workflow id of the owning run. */
  workflow: string;
}

interface SandboxLimits {
  memoryBytes: number;
  processes: number;
  diskBytes: number;
  cpus: number;
  /** Hard life time of the whole sandbox, in seconds; it ends itself even if every worker is gone. */
  deadlineSeconds: number;
}

export interface SandboxSpec {
  /** Derived from (sweep, cell, attempt, purpose); creating the same id again returns the same sandbox. */
  id: string;
  owner: SandboxOwner;
  /** A prepared base root file system. */
  base: SandboxBase;
  limits: SandboxLimits;
  network: "on" | "off";
  /** Put under every command: proxy variables, CA bundle paths, index settings. Never secrets. */
  environment: Readonly<Record<string, string>>;
  /** Host files or folders mounted read-only (CA bundle, the verifier's tools). */
  mounts: readonly { source: string; target: string }[];
}

export interface SandboxBase {
  /** sha256 of the recipe that made it, as the record shows it. */
  digest: string;
  /** What the driver needs to find it: a folder (local), an image name (engines). */
  location: string;
}

export interface Capabilities {
  /**
   * `layers` and `commit` push, pop, fork and drop, `rebuild` refuses. With `commit` a pop ends all processes of its
   * root, and a fork shares the network, not processes, sockets in files or shared memory.
   */
  snapshots: "layers" | "commit" | "rebuild";
  networkSwitch: boolean;
  userNamespaces: boolean;
  /** Which limits are enforced by the kernel; the others are watched or not there at all. */
  limits: { memory: Enforcement; processes: Enforcement; disk: Enforcement };
}

type Enforcement = "kernel" | "watched" | "none";

export interface ExecSpec {
  /** Derived from (sandbox, step …); a second start with the same id never runs the command again. */
  id: string;
  /** Which root it runs in: `main`, or a fork's name. */
  root: string;
  /** Run by `bash -c`. */
  command: string;
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** Time limit, enforced inside the sandbox: SIGTERM, after 10 s SIGKILL, to the whole process tree. */
  seconds: number;
  /** Bytes that stdout and stderr may each reach on disk before the command is ended. */
  outputBytes: number;
  /** Host file given to the command as standard input; /dev/null when null. */
  stdin: string | null;
}

/** Why a command is no longer running. `lost`: its exit code is not known, which is never success. */
export type ExecEnd = "exited" | "timeout" | "output" | "stopped" | "oom" | "lost";

export type ExecStatus =
  | { state: "running"; seconds: number; stdoutBytes: number; stderrBytes: number }
  | {
      state: "ended";
      end: ExecEnd;
      /** 0–255 (128 + signal when killed); null unless `end` is `exited`. */
      exit: number | null;
      seconds: number;
      stdoutBytes: number;
      stderrBytes: number;
    };

export interface Patience {
  /** Longest wait for the command's end, in milliseconds. */
  waitMs: number;
  /** Ends the waiting (its reason is thrown), not the command. */
  signal?: AbortSignal;
}

export type Stream = "stdout" | "stderr";

/**
 * What provides sandboxes. Every driver passes `test/sandbox/contract.ts`.
 * Every call may be repeated: ids make create, start, push, fork and destroy idempotent.
 * Throws `SandboxError` with a cause of the table; a missing sandbox is `sandbox_lost`.
 */
export interface SandboxDriver {
  readonly name: "local" | "docker" | "kubernetes";
  capabilities(): Promise<Capabilities>;
  /** Throws UsageError when such a sandbox would be refused whatever room there is; makes nothing. */
  check?(spec: SandboxSpec): Promise<void>;
  /** Get or create. */
  create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxRef>;
  /** Starts the command detached inside the sandbox and returns at once. */
  start(sandbox: SandboxRef, exec: ExecSpec): Promise<void>;
  /** The command's state; while it runs, the answer may be held back as long as `patience` allows. */
  poll(sandbox: SandboxRef, execId: string, patience?: Patience): Promise<ExecStatus>;
  /** The first `head` and the last `tail` bytes of an output, whole if it is no longer than both. */
  read(
    sandbox: SandboxRef,
    execId: string,
    stream: Stream,
    size: { head: number; tail: number },
  ): Promise<Output>;
  /** The whole output as kept on disk. */
  output(sandbox: SandboxRef, execId: string, stream: Stream): Promise<Readable>;
  /** Ends the command's whole process tree. */
  stop(sandbox: SandboxRef, execId: string): Promise<void>;
  /** Unpacks a tar stream under `path` (made if missing), owned by the sandbox's root. */
  put(sandbox: SandboxRef, root: string, path: string, tar: Readable): Promise<void>;
  /** A tar stream of `path`. */
  get(sandbox: SandboxRef, root: string, path: string): Promise<Readable>;
  /** One regular file, links never followed out of the root; null when missing; SandboxError when over `limit` bytes. */
  readFile(sandbox: SandboxRef, root: string, path: string, limit: number): Promise<Buffer | null>;
  /** Freezes the root's writes so far as frame `frame` (an id of the caller's) and goes on in a new layer. */
  push(sandbox: SandboxRef, root: string, frame: string): Promise<void>;
  /** Back to the state at the push of `frame`; it and all frames above are dropped, with the processes started since. */
  pop(sandbox: SandboxRef, root: string, frame: string): Promise<void>;
  /** A second root `fork` that shares all frames and the present state of `root`. Files only: services stay shared. */
  fork(sandbox: SandboxRef, root: string, fork: string): Promise<void>;
  /** Ends a fork's processes and drops its files. */
  drop(sandbox: SandboxRef, fork: string): Promise<void>;
  /** Cuts or restores the outside network; loopback stays. */
  network(sandbox: SandboxRef, state: "on" | "off"): Promise<void>;
  /** Bytes written above the base. */
  usage(
    sandbox: SandboxRef,
  ): Promise<{ diskBytes: number; memoryPeakBytes: number | null; oomKills: number }>;
  /** Leaves nothing behind: processes, mounts, folders. Destroying what is gone is not an error. */
  destroy(sandbox: SandboxRef): Promise<void>;
  list(): Promise<{ sandbox: SandboxRef; owner: SandboxOwner; createdAt: string }[]>;
  /** Sweeps that keep something here besides their sandboxes, such as files that these share. */
  sweeps?(): Promise<string[]>;
  /** Drops all that the sweep keeps here: it has ended. */
  release?(sweep: string): Promise<void>;
}

export interface Output {
  text: string;
  bytes: number;
  /** Bytes left out between head and tail. */
  omitted: number;
}
