import type { V1Capabilities, V1Pod, V1PodSpec, V1SecurityContext } from "@kubernetes/client-node";
import { BINARY, entrypoint, MOUNTS, VOLUME } from "../contained/layout.ts";
import type { SandboxSpec } from "../driver.ts";
import { ANNOTATIONS, CONTAINER, LABELS, labelValue, ownerLabels, type Role } from "./names.ts";
import { mergeTemplate, type PodTemplate } from "./pod-template.ts";

/** What PID 1 gets. The least that mounts layers is found by a probe (probe.ts). */
export interface Privilege {
  /** `SYS_ADMIN`: layers can be mounted. */
  mounts: boolean;
  /** `hostUsers: false`: root in the pod is nobody on the node. */
  userNamespace: boolean;
  seccomp: "RuntimeDefault" | "Unconfined";
}

export interface PodSettings {
  installation: string;
  privilege: Privilege;
  /** ConfigMap with the program (program.ts). */
  program: string;
  template: PodTemplate;
  /** Memory and CPU requests are the limits divided by this. */
  headroom: number;
  /** What spec.mounts are brought as; null for none. */
  mounts: { size: number; sha256: string } | null;
  /** How long PID 1 waits for `begin`. */
  waitSeconds: number;
  /** The sweep's owner object: deleting it deletes the pod. Null for pods of no sweep. */
  parent: { name: string; uid: string } | null;
}

/** Requests and limits as a pod has them, in bytes and cores. */
interface PodResources {
  requests: { memoryBytes: number; cpus: number; diskBytes: number };
  limits: { memoryBytes: number; cpus: number; diskBytes: number };
}

/** The program's archive, tool folders' own overhead, container logs. */
const DISK_SLACK = 256 << 20;
const DISK_REQUEST = 1 << 30;
const GRACE_SECONDS = 2;
const PROGRAM_MODE = 0o555;

/** What root needs inside to install packages and to keep services; nothing of it reaches the node. */
const ROOT = [
  ...["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP"],
  ...["SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"],
];
/** For layers, for tracing commands' process trees from PID 1, and for its network switch. */
const LAYERS = ["SYS_ADMIN", "SYS_PTRACE", "MKNOD", "NET_ADMIN"];

function podResources(
  { limits }: Pick<SandboxSpec, "limits">,
  headroom: number,
  mountBytes: number,
): PodResources {
  const disk = Math.floor(limits.diskBytes) + mountBytes + DISK_SLACK;
  return {
    requests: {
      memoryBytes: Math.floor(limits.memoryBytes / headroom),
      cpus: Math.max(0.001, limits.cpus / headroom),
      diskBytes: Math.min(disk, DISK_REQUEST),
    },
    limits: { memoryBytes: Math.floor(limits.memoryBytes), cpus: limits.cpus, diskBytes: disk },
  };
}

/** The bare pod of one sandbox. The same for the same arguments, so that two workers make the same one. */
export function podManifest(name: string, spec: SandboxSpec, settings: PodSettings): V1Pod {
  const resources = podResources(spec, settings.headroom, settings.mounts?.size ?? 0);
  const pod = barePod(name, spec, settings, resources);
  return mergeTemplate(pod, settings.template);
}

function barePod(name: string, spec: SandboxSpec, settings: PodSettings, resources: PodResources): V1Pod {
  const { parent } = settings;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: {
        ...roleLabels(settings.installation, "sandbox"),
        ...ownerLabels(spec.owner),
        [LABELS.sandbox]: labelValue(spec.id),
        [LABELS.network]: spec.network,
      },
      annotations: {
        [ANNOTATIONS.id]: spec.id,
        [ANNOTATIONS.owner]: JSON.stringify(spec.owner),
        [ANNOTATIONS.resources]: JSON.stringify(resources),
        [ANNOTATIONS.privilege]: JSON.stringify(settings.privilege),
        ...(settings.mounts ? { [ANNOTATIONS.mounts]: settings.mounts.sha256 } : {}),
      },
      ...(parent ? { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", ...parent }] } : {}),
    },
    spec: { ...isolation(settings.privilege), ...lifetime(spec), ...content(spec, settings, resources) },
  };
}

export function roleLabels(installation: string, role: Role): Record<string, string> {
  return {
    "app.kubernetes.io/managed-by": "setup-bench",
    [LABELS.installation]: labelValue(installation),
    [LABELS.role]: role,
  };
}

/** What no template may weaken. */
function isolation(privilege: Privilege): Partial<V1PodSpec> {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(privilege.userNamespace ? { hostUsers: false } : {}),
    securityContext: { seccompProfile: { type: privilege.seccomp } },
  };
}

/** The kubelet's deadline is the net under PID 1's own, which starts later. */
function lifetime({ limits }: SandboxSpec): Partial<V1PodSpec> {
  return {
    restartPolicy: "Never",
    activeDeadlineSeconds: Math.ceil(limits.deadlineSeconds) + 3_600,
    terminationGracePeriodSeconds: GRACE_SECONDS,
  };
}

function content(
  spec: SandboxSpec,
  { privilege, program, waitSeconds }: PodSettings,
  { requests, limits }: PodResources,
): Pick<V1PodSpec, "containers" | "volumes"> {
  return {
    containers: [
      {
        name: CONTAINER,
        image: spec.base.location,
        command: entrypoint(waitSeconds),
        securityContext: containerSecurity(privilege),
        resources: { requests: quantities(requests), limits: quantities(limits) },
        volumeMounts: [
          { name: "program", mountPath: BINARY.slice(0, BINARY.lastIndexOf("/")), readOnly: true },
          { name: "volume", mountPath: VOLUME },
          { name: "mounts", mountPath: MOUNTS },
        ],
      },
    ],
    volumes: [
      { name: "program", configMap: { name: program, defaultMode: PROGRAM_MODE } },
      { name: "volume", emptyDir: { sizeLimit: String(Math.floor(spec.limits.diskBytes)) } },
      { name: "mounts", emptyDir: {} },
    ],
  };
}

export function containerSecurity({ mounts, userNamespace }: Privilege): V1SecurityContext {
  const capabilities: V1Capabilities = { drop: ["ALL"], add: mounts ? [...ROOT, ...LAYERS] : ROOT };
  return {
    runAsUser: 0,
    privileged: false,
    capabilities,
    // Setuid programs must work for the sandbox's users.
    allowPrivilegeEscalation: true,
    // A proc of its own can't be mounted in a user namespace whose own proc is masked.
    ...(mounts && userNamespace ? { procMount: "Unmasked" } : {}),
  };
}

function quantities({ memoryBytes, cpus, diskBytes }: PodResources["limits"]): Record<string, string> {
  return {
    memory: String(memoryBytes),
    cpu: `${Math.max(1, Math.round(cpus * 1000))}m`,
    "ephemeral-storage": String(diskBytes),
  };
}
