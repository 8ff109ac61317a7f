import { readFile } from "node:fs/promises";
import type { V1Container, V1Pod, V1PodSpec } from "@kubernetes/client-node";
import { parseDocument } from "yaml";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { CONTAINER } from "./names.ts";

/** What a user adds to every sandbox's pod: a fragment of a pod, merged into ours. Commands see its volumes read-only. */
export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Partial<V1PodSpec>;
}

const METADATA = ["labels", "annotations"];
const SPEC = [
  ...[
    "imagePullSecrets",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "schedulerName",
  ],
  ...[
    "priorityClassName",
    "preemptionPolicy",
    "runtimeClassName",
    "schedulingGates",
    "dnsPolicy",
    "dnsConfig",
  ],
  ...["hostAliases", "volumes", "containers", "securityContext", "resourceClaims"],
];
const POD_SECURITY = ["appArmorProfile", "seLinuxOptions"];
const CONTAINER_KEYS = ["name", "image", "imagePullPolicy", "resources", "volumeMounts"];
const LIMITS = ["memory", "cpu", "ephemeral-storage"];

/** Keys that people ask for, and what to do instead. Any other key that is not listed above is refused plainly. */
const INSTEAD: Record<string, string> = {
  restartPolicy: "a restarted sandbox would be an empty one",
  activeDeadlineSeconds: "the sweep's time budgets set it",
  terminationGracePeriodSeconds: "sandboxes end at once",
  hostNetwork: "a sandbox must not be on the node's network",
  hostPID: "a sandbox must not see the node's processes",
  hostIPC: "a sandbox must not reach the node's memory",
  hostUsers: "the setting kubernetes.userNamespaces sets it",
  shareProcessNamespace: "PID 1 of the sandbox must be its own",
  automountServiceAccountToken: "no token may be in a sandbox",
  serviceAccountName: "no identity of the cluster may be in a sandbox",
  initContainers: "use an image that has what they would bring",
  nodeName: "it goes around the scheduler; use nodeSelector",
  command: "it is sandbox-init's place",
  args: "they are sandbox-init's",
  env: "commands would not see it; use the setting environment",
  envFrom: "commands would not see it; use the setting environment",
  lifecycle: "nothing but sandbox-init may run in the container",
  livenessProbe: "it would end sandboxes under load",
};

/** Throws UsageError that names file and key. */
export async function readTemplate(path: string): Promise<PodTemplate> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(
      `pod template ${path}: ${(error as NodeJS.ErrnoException).code}. Remedy: give a file that can be read`,
    );
  }
  return parseTemplate(text, path);
}

export function parseTemplate(text: string, path: string): PodTemplate {
  const document = parseDocument(text);
  const problem = document.errors[0];
  if (problem) throw new UsageError(`pod template ${path}: ${problem.message.split("\n")[0]}`);
  const template = object(document.toJS() ?? {}, path, "the file");
  const { apiVersion, kind, ...rest } = template;
  if ((apiVersion ?? "v1") !== "v1" || !["Pod", "PodTemplate", undefined].includes(kind as string)) {
    throw new UsageError(
      `pod template ${path}: kind: "${kind}" of "${apiVersion}" is no pod. Remedy: leave both out`,
    );
  }
  allow(rest, ["metadata", "spec"], path, "");
  const metadata = object(rest.metadata ?? {}, path, "metadata");
  allow(metadata, METADATA, path, "metadata.");
  for (const kind of METADATA) checkStrings(metadata[kind], path, `metadata.${kind}`);
  checkSpec(object(rest.spec ?? {}, path, "spec"), path);
  return template as PodTemplate;
}

function checkSpec(spec: Record<string, unknown>, path: string): void {
  allow(spec, SPEC, path, "spec.");
  allow(
    object(spec.securityContext ?? {}, path, "spec.securityContext"),
    POD_SECURITY,
    path,
    "spec.securityContext.",
  );
  for (const [i, volume] of list(spec.volumes, path, "spec.volumes").entries()) {
    for (const kind of ["secret", "projected"]) {
      if (kind in volume) refuse(path, `spec.volumes[${i}].${kind}`, "commands of a sandbox may be anyone's");
    }
    if ("hostPath" in volume)
      refuse(path, `spec.volumes[${i}].hostPath`, "a sandbox must not reach the node's files");
    if (["program", "volume", "mounts"].includes(String(volume.name)))
      refuse(path, `spec.volumes[${i}].name`, "the name is taken");
  }
  for (const [i, container] of list(spec.containers, path, "spec.containers").entries()) {
    const at = `spec.containers[${i}].`;
    if (container.name !== CONTAINER || i > 0)
      refuse(path, `${at}name`, `there is one container, and it is called ${CONTAINER}`);
    allow(container, CONTAINER_KEYS, path, at);
    checkResources(object(container.resources ?? {}, path, `${at}resources`), path, `${at}resources.`);
    for (const [j, mount] of list(container.volumeMounts, path, `${at}volumeMounts`).entries()) {
      if (/^\/(\.bench(\/|$)|$)/.test(String(mount.mountPath)))
        refuse(path, `${at}volumeMounts[${j}].mountPath`, "it is sandbox-init's place");
    }
  }
}

function checkResources(resources: Record<string, unknown>, path: string, at: string): void {
  allow(resources, ["requests", "limits", "claims"], path, at);
  for (const name of Object.keys(object(resources.limits ?? {}, path, `${at}limits`))) {
    if (LIMITS.includes(name)) refuse(path, `${at}limits.${name}`, "the sweep's limits set it");
  }
}

function allow(value: Record<string, unknown>, keys: readonly string[], path: string, at: string): void {
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) refuse(path, `${at}${key}`, INSTEAD[key] ?? `it may hold ${keys.join(", ")}`);
  }
}

function checkStrings(value: unknown, path: string, at: string): void {
  for (const [key, entry] of Object.entries(object(value ?? {}, path, at))) {
    if (key.startsWith("setup-bench/")) refuse(path, `${at}["${key}"]`, "the prefix is the harness's own");
    if (typeof entry !== "string")
      throw new UsageError(
        `pod template ${path}: ${at}["${key}"]: ${JSON.stringify(entry)} is no string. Remedy: put it in quotes`,
      );
  }
}

function object(value: unknown, path: string, at: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UsageError(`pod template ${path}: ${at} must be a mapping of keys to values`);
}

function list(value: unknown, path: string, at: string): Record<string, unknown>[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UsageError(`pod template ${path}: ${at} must be a list`);
  return value.map((entry, i) => object(entry, path, `${at}[${i}]`));
}

function refuse(path: string, key: string, why: string): never {
  throw new UsageError(`pod template ${path}: ${key} can't be set: ${why}. Remedy: remove it`);
}

/** Ours first: lists are joined, mappings merged, and single values taken from the template. */
export function mergeTemplate(pod: V1Pod, { metadata, spec = {} }: PodTemplate): V1Pod {
  const [ours] = pod.spec?.containers ?? [];
  if (!pod.spec || !ours) throw new Error("a pod without a container");
  const [theirs] = spec.containers ?? [];
  const { volumes, containers: _, securityContext, ...rest } = spec;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...metadata?.labels, ...pod.metadata?.labels },
      annotations: { ...metadata?.annotations, ...pod.metadata?.annotations },
    },
    spec: {
      ...pod.spec,
      ...rest,
      securityContext: { ...pod.spec.securityContext, ...securityContext },
      containers: [theirs ? mergeContainer(ours, theirs) : ours],
      volumes: [...(pod.spec.volumes ?? []), ...(volumes ?? [])],
    },
  };
}

function mergeContainer(ours: V1Container, theirs: Partial<V1Container>): V1Container {
  const { image, imagePullPolicy, resources, volumeMounts } = theirs;
  return {
    ...ours,
    ...(image === undefined ? {} : { image }),
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    resources: {
      ...ours.resources,
      ...(resources?.claims ? { claims: resources.claims } : {}),
      requests: { ...ours.resources?.requests, ...resources?.requests },
      limits: { ...resources?.limits, ...ours.resources?.limits },
    },
    volumeMounts: [...(ours.volumeMounts ?? []), ...(volumeMounts ?? [])],
  };
}
