import type Docker from "dockerode";
import type { SandboxRef } from "../../../workflows/types.ts";
import { once } from "../../once.ts";
import { initBinary } from "../common/init-binary.ts";
import { caller } from "../contained/calls.ts";
import { insideNetwork } from "../contained/driver.ts";
import type { ContainerEngine, Provided } from "../contained/engine.ts";
import type { Capabilities, SandboxSpec } from "../driver.ts";
import { callInContainer } from "./call.ts";
import { asked, connectEngine, engineAddress } from "./client.ts";
import { imageFrames, openRoots } from "./frames.ts";
import { listSandboxes } from "./list.ts";
import { checkSources } from "./mounts.ts";
import { containerName, LABELS, nextName, rootName } from "./names.ts";
import { ensureNetwork, unreachableFrom } from "./network.ts";
import { findRights } from "./probe.ts";
import { inspected, lost, provideContainer } from "./provide.ts";
import { removeSandbox } from "./remove.ts";
import { providedBy, type Rights } from "./rights.ts";

export interface DockerOptions {
  /** Holds the compiled sandbox-init. */
  stateFolder: string;
  /** Names this machine and state folder in the sandboxes' references; sandboxes of others are not seen. */
  host: string;
  /** As DOCKER_HOST, which is the default. */
  engine?: string;
  /**
   * The most that is asked of the engine: all but `layers` do without CAP_SYS_ADMIN, `rebuild` also without images of
   * containers. Default: layers where they work.
   */
  snapshots?: Rights["snapshots"];
}

/** Any Docker-compatible engine as the place of sandboxes. */
export function dockerEngine(options: DockerOptions): ContainerEngine {
  const docker = connectEngine(options.engine);
  const nameOf = (ref: SandboxRef) => containerName(options.host, ref.id);
  const reference = (id: string): SandboxRef => ({ driver: "docker", id, host: options.host });
  const setting = once(() => asked(docker, "find what the engine can do", () => prepare(docker, options)));
  const makings = new Map<string, Promise<Provided>>();
  const kinds = knownKinds(docker, options.host);
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
    async call(ref, argv, input, root = "main") {
      const own = root !== "main" && (await kinds.of(ref)) === "commit" ? root : "main";
      const container = docker.getContainer(rootName(options.host, ref.id, own));
      return callInContainer(container, [ref.id, own], argv, input);
    },
    async frames(ref) {
      if ((await kinds.of(ref)) !== "commit") return null;
      const [binary, { local }] = await Promise.all([initBinary(options.stateFolder), engineAddress(docker)]);
      const keeper = { docker, installation: options.host, id: ref.id };
      return imageFrames({ ...keeper, ref, calls: caller(engine), making: { binary, local } });
    },
    async network(ref, state) {
      const several = (await kinds.of(ref)) === "commit";
      const roots = several ? await openRoots({ docker, installation: options.host, id: ref.id }) : ["main"];
      for (const root of roots) await insideNetwork(engine, ref, state, root);
    },
    async destroy(ref) {
      const keeper = { docker, installation: options.host, id: ref.id };
      await asked(docker, `destroy ${ref.id}`, () => removeSandbox(keeper));
      kinds.forget(ref);
    },
    async list() {
      const found = await asked(docker, "list sandboxes", () => listSandboxes(docker, options.host));
      return found.map(({ id, ...rest }) => ({ sandbox: reference(id), ...rest }));
    },
  };
  return engine;
}

/** How each sandbox keeps its frames: what it was made with holds, whatever the engine allows later. */
function knownKinds(docker: Docker, installation: string) {
  const known = new Map<string, Rights["snapshots"]>();
  return {
    async of({ id }: SandboxRef): Promise<Rights["snapshots"]> {
      const kind = known.get(id);
      if (kind !== undefined) return kind;
      const name = containerName(installation, id);
      const info = await asked(docker, `find ${id}`, async () => {
        const main = await inspected(docker.getContainer(name));
        return main ?? inspected(docker.getContainer(nextName(name)));
      });
      if (info === null) throw lost(id, null);
      const { snapshots } = JSON.parse(info.Config.Labels[LABELS.provided] ?? "{}") as Rights;
      known.set(id, snapshots);
      return snapshots;
    },
    forget: ({ id }: SandboxRef) => known.delete(id),
  };
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
