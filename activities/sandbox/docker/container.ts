import type Docker from "dockerode";
import { entrypoint, mountSource, VOLUME } from "../contained/layout.ts";
import type { SandboxSpec } from "../driver.ts";
import { LABELS, NETWORK, ownerLabels } from "./names.ts";
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
}

/** The container of one sandbox, as the engine's API wants it. */
export function containerOptions(spec: SandboxSpec, placement: Placement): Docker.ContainerCreateOptions {
  const { rights } = placement;
  return {
    name: placement.name,
    Image: spec.base.location,
    Entrypoint: entrypoint(WAIT_SECONDS),
    Cmd: [],
    User: "0:0",
    WorkingDir: "/",
    Hostname: "sandbox",
    StopSignal: "SIGTERM",
    StopTimeout: 3,
    Healthcheck: { Test: ["NONE"] },
    Volumes: { [VOLUME]: {} },
    Labels: {
      [LABELS.installation]: placement.installation,
      [LABELS.role]: "sandbox",
      [LABELS.sandbox]: spec.id,
      [LABELS.created]: new Date().toISOString(),
      [LABELS.provided]: JSON.stringify(rights),
      ...ownerLabels(spec.owner),
    },
    HostConfig: hostConfig(spec, placement),
  };
}

function hostConfig(spec: SandboxSpec, { rights, bindMounts }: Placement): Docker.HostConfig {
  const { limits } = spec;
  const memory = Math.floor(limits.memoryBytes);
  return {
    Init: false,
    AutoRemove: false,
    RestartPolicy: { Name: "no" },
    NetworkMode: NETWORK,
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
    Mounts: bindMounts
      ? spec.mounts.map(({ source }, index) => ({
          Type: "bind" as const,
          Source: source,
          Target: mountSource(index),
          ReadOnly: true,
        }))
      : [],
  };
}
