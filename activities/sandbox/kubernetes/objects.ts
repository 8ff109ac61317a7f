import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { V1ConfigMap, V1OwnerReference } from "@kubernetes/client-node";
import { isFault } from "./api-error.ts";
import type { Cluster } from "./client.ts";
import { ANNOTATIONS, LABELS, labelValue, objectName, selector } from "./names.ts";

/** A ConfigMap's name and uid. */
export interface Parent {
  name: string;
  uid: string;
}

const OURS = { "app.kubernetes.io/managed-by": "setup-bench" };
/** A ConfigMap holds 1 MiB. */
const PROGRAM_BYTES = 1_000_000;

/**
 * The owner object of a sweep's pods: the cluster deletes what is left of them once it is deleted. Looked up each time:
 * a pod whose owner does not exist is deleted at once.
 */
export async function sweepObject(cluster: Cluster, installation: string, sweep: string): Promise<Parent> {
  const name = objectName("sweep", installation, sweep);
  const labels = {
    ...OURS,
    [LABELS.installation]: labelValue(installation),
    [LABELS.sweep]: labelValue(sweep),
  };
  return getOrCreate(cluster, { metadata: { name, labels, annotations: { [ANNOTATIONS.id]: sweep } } });
}

/** Deletes the sweep's owner object, and with it, in the background, all pods that it still has. */
export async function removeSweep(cluster: Cluster, installation: string, sweep: string): Promise<void> {
  await removeConfigMap(cluster, objectName("sweep", installation, sweep));
}

/** Sweeps that have an owner object in the cluster. */
export async function listSweeps(cluster: Cluster, installation: string): Promise<string[]> {
  const { namespace } = cluster;
  const labelSelector = `${selector(installation, null)},${LABELS.sweep}`;
  const { items } = await cluster.core("list sweeps", (api) =>
    api.listNamespacedConfigMap({ namespace, labelSelector }),
  );
  return items.map(({ metadata }) => metadata?.annotations?.[ANNOTATIONS.id] ?? "").filter(Boolean);
}

/** The static sandbox-init as an immutable ConfigMap that pods mount; one for each content, shared by all. */
export async function programObject(cluster: Cluster, binary: string): Promise<string> {
  const content = await readFile(binary);
  if (content.length > PROGRAM_BYTES) {
    throw new Error(`${binary} has ${content.length} bytes; a ConfigMap holds ${PROGRAM_BYTES}`);
  }
  const name = objectName("init", createHash("sha256").update(content).digest("hex"));
  const { name: made } = await getOrCreate(cluster, {
    metadata: { name, labels: OURS },
    immutable: true,
    binaryData: { [binaryName]: content.toString("base64") },
  });
  return made;
}

const binaryName = "sandbox-init";
const FINDING_MS = 24 * 3_600_000;

/**
 * What an earlier process found out about the cluster under this key, else what `find` finds. Kept in the cluster for a
 * day, so that hundreds of workers do not find it out each.
 */
export async function remembered<T>(
  cluster: Cluster,
  key: readonly string[],
  find: () => Promise<T>,
): Promise<T> {
  const { namespace } = cluster;
  const name = objectName("found", ...key);
  try {
    const { metadata, data } = await cluster.core(`read config map ${name}`, (api) =>
      api.readNamespacedConfigMap({ namespace, name }),
    );
    const age = Date.now() - Number(metadata?.creationTimestamp ?? 0);
    if (age < FINDING_MS && data?.found !== undefined) return JSON.parse(data.found) as T;
    await removeConfigMap(cluster, name);
  } catch (error) {
    if (!isFault(error, "gone")) throw error;
  }
  const found = await find();
  await getOrCreate(cluster, {
    metadata: { name, labels: OURS },
    immutable: true,
    data: { found: JSON.stringify(found) },
  });
  return found;
}

/** Notes which pod is the sandbox's, and gives the one that was noted first. */
export async function writeClaim(
  cluster: Cluster,
  installation: string,
  id: string,
  pod: string,
  parent: V1OwnerReference | undefined,
): Promise<string> {
  const body: V1ConfigMap = {
    metadata: {
      name: objectName("claim", installation, id),
      labels: { ...OURS, [LABELS.installation]: labelValue(installation) },
      ...(parent ? { ownerReferences: [parent] } : {}),
    },
    immutable: true,
    data: { pod },
  };
  const { namespace } = cluster;
  try {
    await cluster.core("note a claim", (api) => api.createNamespacedConfigMap({ namespace, body }));
    return pod;
  } catch (error) {
    if (!isFault(error, "conflict")) throw error;
    return (await readClaim(cluster, installation, id)) ?? writeClaim(cluster, installation, id, pod, parent);
  }
}

export async function readClaim(cluster: Cluster, installation: string, id: string): Promise<string | null> {
  const { namespace } = cluster;
  const name = objectName("claim", installation, id);
  try {
    const read = () =>
      cluster.core("read a claim", (api) => api.readNamespacedConfigMap({ namespace, name }));
    return (await read()).data?.pod ?? null;
  } catch (error) {
    if (isFault(error, "gone")) return null;
    throw error;
  }
}

export async function removeClaim(cluster: Cluster, installation: string, id: string): Promise<void> {
  await removeConfigMap(cluster, objectName("claim", installation, id));
}

async function getOrCreate(cluster: Cluster, body: V1ConfigMap): Promise<Parent> {
  const { namespace } = cluster;
  const name = body.metadata?.name ?? "";
  const read = () =>
    cluster.core(`read config map ${name}`, (api) => api.readNamespacedConfigMap({ namespace, name }));
  const parent = ({ metadata }: V1ConfigMap) => ({ name, uid: metadata?.uid ?? "" });
  try {
    return parent(await read());
  } catch (error) {
    if (!isFault(error, "gone")) throw error;
  }
  try {
    const make = () =>
      cluster.core(`create config map ${name}`, (api) => api.createNamespacedConfigMap({ namespace, body }));
    return parent(await make());
  } catch (error) {
    if (!isFault(error, "conflict")) throw error;
    return parent(await read());
  }
}

async function removeConfigMap(cluster: Cluster, name: string): Promise<void> {
  const { namespace } = cluster;
  try {
    await cluster.core(`delete config map ${name}`, (api) =>
      api.deleteNamespacedConfigMap({ namespace, name }),
    );
  } catch (error) {
    if (!isFault(error, "gone")) throw error;
  }
}
