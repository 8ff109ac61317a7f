import type { Cause } from "../../../results/causes.ts";
import type { SandboxRef } from "../../../workflows/types.ts";
import type { Capabilities, SandboxOwner, SandboxSpec } from "../driver.ts";

/**
 * What runs containers. Everything else of a driver is done over `call`: containedDriver(engine) of driver.ts.
 * Every operation may be repeated with the same effect.
 */
export interface ContainerEngine {
  readonly name: "docker" | "kubernetes";
  capabilities(): Promise<Capabilities>;
  /**
   * Gets or makes the container of this id: running, with `sandbox-init contained` (layout.ts: entrypoint) as its
   * PID 1, a private empty volume at VOLUME and spec.mounts at mountSource(i). It need not have begun.
   * Throws CausedError: `sandbox_lost` when it was there and has ended, `capacity`, `image_pull`.
   */
  create(spec: SandboxSpec, signal?: AbortSignal): Promise<Provided>;
  /**
   * Runs a command (layout.ts: call) beside PID 1, as its root, and gives what it wrote; at most a few MiB. `input`
   * carries its own length: neither side waits for its end. Throws CausedError `sandbox_lost` (or `sandbox_oom`) when
   * the container is not there any more, and TransportFault when the answer may be lost: the caller then repeats it.
   * Ends with TransportFault when nothing is heard for about a minute. `root` says whose container, where the sandbox
   * has several (`frames`); without it the main one.
   */
  call(
    sandbox: SandboxRef,
    argv: readonly string[],
    input: CallInput | null,
    root?: string,
  ): Promise<CallResult>;
  /** What keeps this sandbox's frames, where the engine does (Provided.snapshots `commit`); else null. */
  frames?(sandbox: SandboxRef): Promise<EngineFrames | null>;
  network(sandbox: SandboxRef, state: "on" | "off"): Promise<void>;
  /** Leaves nothing behind. Destroying what is gone is not an error. */
  destroy(sandbox: SandboxRef): Promise<void>;
  list(): Promise<{ sandbox: SandboxRef; owner: SandboxOwner; createdAt: string }[]>;
}

/**
 * Frames as the engine's images, and forks as containers of their own; containers that these make have begun. The names
 * are words of the sandbox (safeName), the meanings those of SandboxDriver. Throws Refused where PID 1 would say no.
 */
export interface EngineFrames {
  push(root: string, frame: string): Promise<void>;
  pop(root: string, frame: string): Promise<void>;
  fork(root: string, fork: string): Promise<void>;
  drop(fork: string): Promise<void>;
  /** Bytes that the images take besides what the main container shows. */
  bytes(): Promise<number>;
}

/** What a container takes over from those of the same sandbox before it; `began` is in seconds since 1970. */
export interface Succession {
  root: string;
  network: "on" | "off";
  began: number;
}

/** The container, and what PID 1 may rely on in it. */
export interface Provided {
  sandbox: SandboxRef;
  /**
   * `layers`: PID 1 has CAP_SYS_ADMIN (in the host's user namespace or in the container's own) and the system calls to
   * mount. Else it has not, and commands run in the container's own root. `commit`: the engine keeps frames of it, and
   * all containers of the sandbox share a volume at SHARED. `rebuild`: there are no frames.
   */
  snapshots: Capabilities["snapshots"];
  /** Of a container that is not the sandbox's first. */
  succession?: Succession;
  /**
   * The container has a user namespace that it shares with no other container. Only then may a limit on the processes
   * of its users be set; else the engine's own limit on the container's processes is the one that holds.
   */
  ownUsers: boolean;
  /** PID 1 may set up loop devices, so that the kernel holds the disk limit; else the engine limits the volume or nobody. */
  loopDevices: boolean;
  /**
   * `inside`: PID 1 has CAP_NET_ADMIN and switches the network itself (insideNetwork of driver.ts is then the engine's
   * `network`). `engine`: PID 1 leaves the network as it is.
   */
  network: "inside" | "engine";
  /** Networks (a.b.c.d/n) never to be reached from inside, besides link-local; only with network `inside`. */
  unreachable: readonly string[];
  /** Where the engine has mounted volumes of the user's, which commands see at the same place, read-only. */
  volumes?: readonly string[];
}

/** May be asked for again when a call is repeated: a function gives a fresh stream each time. */
export type CallInput = Uint8Array | (() => AsyncIterable<Uint8Array>);

/** A file's frame. The engine may bring the file by another way, as long as the call reads the same. */
export interface FileInput {
  (): AsyncIterable<Uint8Array>;
  readonly size: number;
  readonly sha256: string;
}

export interface CallResult {
  /** Null when the engine can't tell without asking again: the answer on stdout proves itself. */
  exit: number | null;
  stdout: Buffer;
  stderr: string;
}

/** The way to the container failed, and with it perhaps the answer: the call may or may not have been done. */
export class TransportFault extends Error {
  override readonly name = "TransportFault";
  /** What it counts as when repeating does not help. */
  readonly failure: Cause;

  constructor(message: string, options: { cause?: unknown; failure?: Cause } = {}) {
    super(message, options);
    this.failure = options.failure ?? "sandbox_lost";
  }
}
