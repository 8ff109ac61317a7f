import type Docker from "dockerode";
import type { SandboxOwner } from "../driver.ts";
import { LABELS, ownerOf } from "./names.ts";

export interface Listed {
  id: string;
  owner: SandboxOwner;
  createdAt: string;
}

/** The installation's sandboxes, also those of which no more is left than images or a volume. */
export async function listSandboxes(docker: Docker, installation: string): Promise<Listed[]> {
  const label = (role: string) => [`${LABELS.installation}=${installation}`, `${LABELS.role}=${role}`];
  const containers = await docker.listContainers({ all: true, filters: { label: label("sandbox") } });
  const images = await docker.listImages({ filters: { label: label("frame") } });
  const { Volumes } = await docker.listVolumes({ filters: { label: label("sandbox") } });
  const found = new Map<string, Listed>();
  for (const labels of [...containers, ...images, ...(Volumes ?? [])].map(({ Labels }) => Labels ?? {})) {
    const id = labels[LABELS.sandbox] ?? "";
    if (!found.has(id))
      found.set(id, { id, owner: ownerOf(labels), createdAt: labels[LABELS.created] ?? "" });
  }
  return [...found.values()];
}
