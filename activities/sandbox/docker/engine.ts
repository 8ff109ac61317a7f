import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import type { SandboxRef } from "../../../workflows/types.ts";
import { once } from "../../once.ts";
import { initBinary } from "../common/init-binary.ts";
import { insideNetwork } from "../contained/driver.ts";
import {
  type CallInput,
  type CallResult,
  type ContainerEngine,
  type Provided,
  TransportFault,
} from "../contained/engine.ts";
import type { Capabilities, SandboxSpec } from "../driver.ts";
import { asked, connectEngine, engineAddress, isStatus, messageOf } from "./client.ts";
import { execInContainer } from "./exec.ts";
import { checkSources } from "./mounts.ts";
import { containerName, LABELS, ownerOf } from "./names.ts";
import { ensureNetwork, unreachableFrom } from "./network.ts";
import { findRights } from "./probe.ts";
import { inspected, lost, provideContainer } from "./provide.ts";
import { providedBy, type Rights } from "./rights.ts";

export interface DockerOptions {
  /** Holds the compiled sandbox-init. */
  stateFolder: string;
  /** Names this machine and state folder in the sandboxes' references; sandboxes of others are not seen. */
  host: string;
  /** As DOCKER_HOST, which is the default. */
  engine?: string;
  /** The most that is asked of the engine: `rebuild` does without CAP_SYS_ADMIN. Default: layers where they work. */
  snapshots?: "layers" | "rebuild";
}

/** Any Docker-compatible engine as the place of sandboxes. */
export function dockerEngine(options: DockerOptions): ContainerEngine {
  const docker = connectEngine(options.engine);
  const nameOf = (ref: SandboxRef) => containerName(options.host, ref.id);
  const reference = (id: string): SandboxRef => ({ driver: "docker", id, host: options.host });
  const setting = once(() => asked(docker, "find what the engine can do", () => prepare(docker, options)));
  const makings = new Map<string, Promise<Provided>>();
  const engine: ContainerEngine = {
    name: "docker",
    capabilities: async () => (await setting()).capabilities,
    create(spec) {
      // Two at once in one process would both fill the new container.
      let making = makings.get(spec.id);
      if (making === undefined) {
        making = provide(docker, nameOf(reference(spec.id)), spec, setting, reference(spec.id));
        makings.set(spec.id, making);
        const done = () => makings.delete(spec.id);
        making.then(done, done);
      }
      return making;
    },
    call: (ref, argv, input) => callInContainer(docker.getContainer(nameOf(ref)), ref, argv, input),
    network: (ref, state) => insideNetwork(engine, ref, state),
    destroy: (ref) =>
      asked(docker, `destroy ${ref.id}`, () => removeContainer(docker.getContainer(nameOf(ref)))),
    async list() {
      const filters = { label: [`${LABELS.installation}=${options.host}`, `${LABELS.role}=sandbox`] };
      const found = await asked(docker, "list sandboxes", () =>
        docker.listContainers({ all: true, filters }),
      );
      return found.map(({ Labels }) => ({
        sandbox: reference(Labels[LABELS.sandbox] ?? ""),
        owner: ownerOf(Labels),
        createdAt: Labels[LABELS.created] ?? "",
      }));
    },
  };
  return engine;
}

interface Setting {
  installation: string;
  binary: string;
  /** The engine shares this machine's files and addresses. */
  local: boolean;
  rights: Rights;
  capabilities: Capabilities;
}

async function prepare(docker: Docker, { stateFolder, host, snapshots }: DockerOptions): Promise<Setting> {
  const { local } = await engineAddress(docker);
  const binary = await initBinary(stateFolder);
  await ensureNetwork(docker);
  const { rights, refused } = await findRights(docker, snapshots ?? "layers", {
    installation: host,
    binary,
    local,
  });
  for (const line of refused) process.emitWarning(`container engine: ${line}`);
  const info = await docker.info();
  return { installation: host, binary, local, rights, capabilities: capabilities(rights, info) };
}

function capabilities(rights: Rights, info: { MemoryLimit?: boolean; PidsLimit?: boolean }): Capabilities {
  return {
    snapshots: rights.snapshots,
    networkSwitch: true,
    // Forbidden inside: they have been a way out of sandboxes time and again.
    userNamespaces: false,
    limits: {
      memory: info.MemoryLimit === false ? "none" : "kernel",
      processes: info.PidsLimit === false ? "none" : "kernel",
      disk: rights.loopDevices ? "kernel" : "watched",
    },
  };
}

async function provide(
  docker: Docker,
  name: string,
  spec: SandboxSpec,
  setting: () => Promise<Setting>,
  ref: SandboxRef,
): Promise<Provided> {
  await checkSources(spec.mounts);
  const making = await setting();
  return asked(docker, `create ${spec.id}`, async () => {
    const rights = await provideContainer(spec, { docker, name, ...making });
    return providedBy(ref, rights, await unreachableFrom(docker, making.local));
  });
}

async function callInContainer(
  container: Docker.Container,
  ref: SandboxRef,
  argv: readonly string[],
  input: CallInput | null,
): Promise<CallResult> {
  try {
    return await execInContainer(container, argv, input);
  } catch (error) {
    if (!isStatus(error, 404, 409)) throw error;
    const info = await inspected(container);
    if (info?.State.Running) throw new TransportFault(`the engine: ${messageOf(error)}`, { cause: error });
    throw lost(ref.id, info?.State ?? null);
  }
}

/** PID 1 drops what is not yet on disk when it is told to end; killed, it would all be written first. */
async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.stop({ t: 3 });
  } catch (error) {
    if (isStatus(error, 404)) return;
    if (!isStatus(error, 304, 409)) throw error;
  }
  for (let tries = 0; ; tries++) {
    try {
      await container.remove({ force: true, v: true });
      return;
    } catch (error) {
      if (isStatus(error, 404)) return;
      // Another removal is at work.
      if (!isStatus(error, 409) || tries === 100) throw error;
    }
    await sleep(100);
  }
}
