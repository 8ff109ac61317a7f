import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { isStatus } from "./client.ts";
import { type Keeper, removeImages } from "./frame-images.ts";
import { LABELS, sharedVolume } from "./names.ts";

/** Removes what the engine has of the sandbox, by its labels: containers, and where it has frames their images. */
export async function removeSandbox(keeper: Keeper): Promise<void> {
  const { docker, installation, id } = keeper;
  const label = [`${LABELS.installation}=${installation}`, `${LABELS.sandbox}=${id}`];
  const containers = await docker.listContainers({ all: true, filters: { label } });
  await Promise.all(containers.map(({ Id }) => removeContainer(docker.getContainer(Id))));
  // A worker that was killed may have removed the containers and no more.
  const several = containers.length === 0 || containers.some(({ Labels }) => Labels[LABELS.spec]);
  if (!several) return;
  await removeImages(keeper);
  await removeVolume(keeper);
}

async function removeVolume({ docker, installation, id }: Keeper): Promise<void> {
  const volume = docker.getVolume(sharedVolume(installation, id));
  try {
    const { Labels } = await volume.inspect();
    if (Labels?.[LABELS.sandbox] === id) await volume.remove();
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

/** PID 1 drops what is not yet on disk when it is told to end; killed, it would all be written first. */
export async function removeContainer(container: Docker.Container): Promise<void> {
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
