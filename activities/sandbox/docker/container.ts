import type Docker from "dockerode";
import type { Succession } from "../contained/engine.ts";
import { entrypoint, mountSource, SHARED, VOLUME } from "../contained/layout.ts";
import type { SandboxSpec } from "../driver.ts";
import { LABELS, NETWORK, ownerLabels, sharedVolume } from "./names.ts";
import { capabilitiesOf, LOOP_RULES, type Rights } from "./rights.ts";

/** How long a container waits for `begin`: longer than a worker takes to be replaced. */
const WAIT_SECONDS = 900;
/** PID 1, supervisors and the engine's execs, besides the payload's processes. */
const OWN_PROCESSES = 1_024;
/** The host's own processes live longer than a sandbox's; the payload raises its own further. */
const OOM_SCORE = 300;

interface Placement {
  name: string;
  installation: string;
  rights: Rights;
  /** The engine shares this machine's files: mounts are bound, not copied. */
  bindMounts: boolean;
  /** Of a container that is not the sandbox's first. */
  later?: Later;
}

export interface Later {
  image: string;
  succession: Succession;
  /** As the sandbox's first container has it. */
  created: string;
  /** `<frames below> <frame>` that it goes back to; empty for a fork. */
  popped: string;
  /** Container whose network it shares; null for one of its own. */
  besides: string | null;
}

/** Makes a container of the sandbox, which is then neither filled nor started. */
export async function createContainer(
  docker: Docker,
  spec: SandboxSpec,
  placement: Placement,
): Promise<void> {
  // Else the client would repeat the whole body in the address, which servers keep short.
  const request = { _query: { name: placement.name }, _body: containerOptions(spec, placement) };
  await docker.createContainer(request as Docker.ContainerCreateOptions);
}

function containerOptions(spec: SandboxSpec, placement: Placement): Docker.ContainerCreateOptions {
  const { rights, later } = placement;
  return {
    name: placement.name,
    Image: later?.image ?? spec.base.location,
    Entrypoint: entrypoint(WAIT_SECONDS),
    Cmd: [],
    User: "0:0",
    WorkingDir: "/",
    // Where the network is another's, so is the name.
    ...(later?.besides ? {} : { Hostname: "sandbox" }),
    StopSignal: "SIGTERM",
    StopTimeout: 3,
    Healthcheck: { Test: ["NONE"] },
    Volumes: { [VOLUME]: {} },
    Labels: {
      [LABELS.provided]: JSON.stringify(rights),
      ...labelsOf(spec, placement),
      ...framesLabels(spec, placement),
    },
    HostConfig: hostConfig(spec, placement),
  };
}

/** Of all that belongs to the sandbox. */
function labelsOf(spec: SandboxSpec, { installation, later }: Placement): Record<string, string> {
  return {
    [LABELS.installation]: installation,
    [LABELS.role]: "sandbox",
    [LABELS.sandbox]: spec.id,
    [LABELS.created]: later?.created ?? new Date().toISOString(),
    ...ownerLabels(spec.owner),
  };
}

/** All are given: a container would have its image's for those that are not, and so another's. */
function framesLabels(spec: SandboxSpec, { rights, later }: Placement): Record<string, string> {
  if (rights.snapshots !== "commit") return {};
  return {
    [LABELS.spec]: JSON.stringify(spec),
    [LABELS.succession]: later === undefined ? "" : JSON.stringify(later.succession),
    [LABELS.popped]: later?.popped ?? "",
  };
}

function hostConfig(spec: SandboxSpec, placement: Placement): Docker.HostConfig {
  const { limits } = spec;
  const { rights, later } = placement;
  const memory = Math.floor(limits.memoryBytes);
  return {
    Init: false,
    AutoRemove: false,
    RestartPolicy: { Name: "no" },
    NetworkMode: later?.besides ? `container:${later.besides}` : NETWORK,
    CapDrop: ["ALL"],
    CapAdd: capabilitiesOf(rights),
    // AppArmor's profile for containers forbids all mounts. The engine's own seccomp profile stays in force.
    SecurityOpt: rights.snapshots === "layers" ? ["apparmor=unconfined"] : [],
    DeviceCgroupRules: rights.loopDevices ? LOOP_RULES : [],
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.floor(limits.cpus * 1e9),
    PidsLimit: Math.floor(limits.processes) + OWN_PROCESSES,
    OomScoreAdj: OOM_SCORE,
    LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
    Mounts: mountsOf(spec, placement),
  };
}

function mountsOf(spec: SandboxSpec, placement: Placement): Docker.MountConfig {
  const { bindMounts, rights, installation } = placement;
  const binds = spec.mounts.map(({ source }, index) => ({
    Type: "bind" as const,
    Source: source,
    Target: mountSource(index),
    ReadOnly: true,
  }));
  const shared = {
    Type: "volume" as const,
    Source: sharedVolume(installation, spec.id),
    Target: SHARED,
    VolumeOptions: {
      NoCopy: true,
      Labels: labelsOf(spec, placement),
      DriverConfig: { Name: "local", Options: {} },
    },
  };
  return [...(bindMounts ? binds : []), ...(rights.snapshots === "commit" ? [shared] : [])];
}
