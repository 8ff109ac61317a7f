import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { buffer } from "node:stream/consumers";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import { CausedError } from "../../errors.ts";
import { onceEach } from "../../once.ts";
import { BINARY, EXIT_DISK } from "../contained/layout.ts";
import type { SandboxSpec } from "../driver.ts";
import { isStatus, messageOf } from "./client.ts";
import { createContainer } from "./container.ts";
import { copyMounts } from "./mounts.ts";
import { LABELS } from "./names.ts";
import type { Rights } from "./rights.ts";

export interface Making {
  docker: Docker;
  name: string;
  installation: string;
  rights: Rights;
  binary: string;
  /** The engine shares this machine's files. */
  local: boolean;
}

/**
 * Gets or makes the container, and starts it. Whoever finds it made but not started, because its maker was killed,
 * does the rest. Gives the rights that it was made with.
 */
export async function provideContainer(spec: SandboxSpec, making: Making): Promise<Rights> {
  const { docker, name } = making;
  const container = docker.getContainer(name);
  const info = (await inspected(container)) ?? (await created(spec, making));
  const labels = info.Config.Labels ?? {};
  if (labels[LABELS.sandbox] !== spec.id || labels[LABELS.installation] !== making.installation) {
    throw new CausedError(
      "capacity",
      `the container ${name} is there and is not the sandbox ${spec.id}. Remedy: remove it`,
    );
  }
  if (info.State.Status === "created") await startCreated(spec, container, making);
  else if (!info.State.Running) throw lost(spec.id, info.State);
  return JSON.parse(labels[LABELS.provided] ?? "{}") as Rights;
}

/** Null when there is no such container. */
export async function inspected(container: Docker.Container): Promise<Docker.ContainerInspectInfo | null> {
  try {
    return await container.inspect();
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

/** Why a container that was there does not run any more; `root` is that of a sandbox's container besides its main one. */
export function lost(
  sandbox: string,
  state: Docker.ContainerInspectInfo["State"] | null,
  root = "main",
): CausedError {
  const id = root === "main" ? sandbox : `${sandbox} (${root})`;
  if (state === null)
    return new CausedError("sandbox_lost", `the sandbox ${id} is gone: it has no container`);
  if (state.OOMKilled && state.ExitCode === 137) {
    return new CausedError(
      "sandbox_oom",
      `the sandbox ${id} ended: its memory limit was reached by its own PID 1`,
    );
  }
  if (state.ExitCode === EXIT_DISK) {
    return new CausedError(
      "sandbox_disk",
      `the sandbox ${id} ended: it had written more than its disk limit`,
    );
  }
  const why = state.Error ? `, ${state.Error}` : "";
  return new CausedError("sandbox_lost", `the sandbox ${id} has ended (exit ${state.ExitCode}${why})`);
}

async function created(spec: SandboxSpec, making: Making): Promise<Docker.ContainerInspectInfo> {
  const { docker, name, installation, rights, local } = making;
  try {
    await createContainer(docker, spec, { name, installation, rights, bindMounts: local });
  } catch (error) {
    if (isStatus(error, 404)) {
      const message = `the engine has no image ${spec.base.location}: ${messageOf(error)}. Remedy: prepare the base again, or pull it`;
      throw new CausedError("image_pull", message, { cause: error });
    }
    // Another worker was first.
    if (!isStatus(error, 409)) throw error;
  }
  return docker.getContainer(name).inspect();
}

/** Fills a container that was made, and starts it. */
export async function startCreated(
  spec: SandboxSpec,
  container: Docker.Container,
  making: Pick<Making, "binary" | "local">,
): Promise<void> {
  await container.putArchive(await binaryArchive(making.binary), { path: "/" });
  if (!making.local) await copyMounts(container, spec.mounts);
  try {
    await container.start();
  } catch (error) {
    // 304: another worker has started it.
    if (!isStatus(error, 304)) throw error;
  }
}

/** sandbox-init at its place, as a tar; a remote engine can't bind it. */
const binaryArchive = onceEach(packBinary);

async function packBinary(binary: string): Promise<Buffer> {
  const tar = pack();
  const path = BINARY.slice(1);
  for (let at = posix.dirname(path), folders: string[] = []; ; at = posix.dirname(at)) {
    if (at !== ".") {
      folders.unshift(at);
      continue;
    }
    for (const folder of folders) tar.entry({ name: `${folder}/`, type: "directory", mode: 0o700 });
    break;
  }
  tar.entry({ name: path, mode: 0o755 }, await readFile(binary));
  tar.finalize();
  return buffer(tar);
}
