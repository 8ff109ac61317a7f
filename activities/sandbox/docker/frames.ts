import type Docker from "dockerode";
import type { SandboxRef } from "../../../workflows/types.ts";
import { CausedError } from "../../errors.ts";
import { Refused } from "../common/refused.ts";
import type { Caller } from "../contained/calls.ts";
import type { EngineFrames, Succession } from "../contained/engine.ts";
import { beginSandbox, succession } from "../contained/inside.ts";
import type { SandboxSpec } from "../driver.ts";
import { asked, isStatus, messageOf } from "./client.ts";
import { createContainer, type Later } from "./container.ts";
import {
  BASE,
  commitContainer,
  dropUnused,
  type Frame,
  framesOf,
  frameTag,
  imageBytes,
  type Keeper,
  tagImage,
  untag,
  untagRoot,
} from "./frame-images.ts";
import { LABELS, nextName, rootName } from "./names.ts";
import { unreachableFrom } from "./network.ts";
import { inspected, lost, type Making, startCreated } from "./provide.ts";
import { removeContainer } from "./remove.ts";
import { providedBy, type Rights } from "./rights.ts";

export interface FramePlace extends Keeper {
  ref: SandboxRef;
  calls: Caller;
  making: Pick<Making, "binary" | "local">;
}

/**
 * Frames of a sandbox that may not mount: images that the engine commits of its containers. Every step leaves what the
 * next one needs in the engine, so that a call that is repeated after its worker was killed goes on from there.
 */
export function imageFrames(place: FramePlace): EngineFrames {
  const { docker, id } = place;
  return {
    push: (root, frame) => asked(docker, `push a frame of ${id}`, () => push(place, root, frame)),
    pop: (root, frame) => asked(docker, `pop a frame of ${id}`, () => pop(place, root, frame)),
    fork: (root, fork) => asked(docker, `fork ${id}`, () => forkRoot(place, root, fork)),
    drop: (fork) => asked(docker, `drop a fork of ${id}`, () => drop(place, fork)),
    bytes: () => asked(docker, `measure ${id}`, () => bytes(place)),
  };
}

/** Roots that have a container now. */
export async function openRoots({ docker, installation, id }: Keeper): Promise<string[]> {
  const label = [`${LABELS.installation}=${installation}`, `${LABELS.sandbox}=${id}`];
  const filters = { label, status: ["running"] };
  const containers = await docker.listContainers({ filters });
  return containers.map(({ Labels }) => {
    const taken = Labels[LABELS.succession];
    return taken ? (JSON.parse(taken) as Succession).root : "main";
  });
}

async function bytes(place: FramePlace): Promise<number> {
  const { Image, Config } = await running(place, "main");
  return imageBytes(place, Image, specOf(Config.Labels).base.location);
}

async function push(place: FramePlace, root: string, frame: string): Promise<void> {
  const frames = await framesOf(place, root);
  if (frames.some(({ name }) => name === frame)) return;
  const { Id } = await running(place, root);
  await commitContainer(place, Id, root, frameTag({ depth: frames.length, name: frame }));
}

/** The frame's tag goes last: as long as it is there, a repeated call does what is left to do. */
async function pop(place: FramePlace, root: string, name: string): Promise<void> {
  const frames = await framesOf(place, root);
  const frame = frames.find((one) => one.name === name);
  if (frame === undefined) {
    const info = await inspected(containerOf(place, root));
    if (info?.Config.Labels[LABELS.popped] === `${frames.length} ${name}`) return resume(place, root);
    throw new Refused(`pop ${root} ${name}`, "no such frame");
  }
  await replace(place, root, frame);
  await resume(place, root);
  await tagImage(place, frame.image, root, BASE);
  await untag(place, root, frames.slice(frame.depth).map(frameTag));
  await dropUnused(place);
}

/** The new container is there, with all that it takes over, before the old one goes. */
async function replace(place: FramePlace, root: string, frame: Frame): Promise<void> {
  const popped = `${frame.depth} ${frame.name}`;
  const isReturn = (info: Docker.ContainerInspectInfo | null) =>
    info?.Image === frame.image && info.Config.Labels[LABELS.popped] === popped;
  const container = containerOf(place, root);
  if (isReturn(await inspected(container))) return;
  const name = rootName(place.installation, place.id, root);
  const next = place.docker.getContainer(nextName(name));
  const coming = await inspected(next);
  if (!isReturn(coming)) {
    if (coming !== null) await removeContainer(next);
    const old = await running(place, root);
    const besides = root === "main" ? null : (await running(place, "main")).Id;
    const taken = await succession(place.calls, place.ref, root, "end");
    await create(place, nextName(name), old, { image: frame.image, succession: taken, popped, besides });
  }
  await removeContainer(container);
  await next.rename({ name });
}

async function forkRoot(place: FramePlace, root: string, fork: string): Promise<void> {
  if ((await inspected(containerOf(place, fork))) === null) {
    const [origin, main] = [await running(place, root), await running(place, "main")];
    const image = await commitContainer(place, origin.Id, fork, BASE);
    for (const frame of await framesOf(place, root)) {
      await tagImage(place, frame.image, fork, frameTag(frame));
    }
    const state = await succession(place.calls, place.ref, "main", "state");
    const later = { image, succession: { ...state, root: fork }, popped: "", besides: main.Id };
    await create(place, rootName(place.installation, place.id, fork), origin, later);
  }
  await resume(place, fork);
}

async function drop(place: FramePlace, fork: string): Promise<void> {
  if (fork === "main") throw new Refused("drop main", "the main root is not a fork");
  const container = containerOf(place, fork);
  if ((await inspected(container))?.State.Running) {
    try {
      await succession(place.calls, place.ref, fork, "end");
    } catch (error) {
      // It may end by itself meanwhile.
      if ((await inspected(container))?.State.Running) throw error;
    }
  }
  await removeContainer(container);
  await removeContainer(place.docker.getContainer(nextName(rootName(place.installation, place.id, fork))));
  await untagRoot(place, fork);
  await dropUnused(place);
}

async function create(
  place: FramePlace,
  name: string,
  { Config }: Docker.ContainerInspectInfo,
  later: Omit<Later, "created">,
): Promise<void> {
  const placement = {
    ...{ name, installation: place.installation, rights: rightsOf(Config.Labels) },
    bindMounts: place.making.local,
    later: { ...later, created: Config.Labels[LABELS.created] ?? "" },
  };
  try {
    await createContainer(place.docker, specOf(Config.Labels), placement);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    const message = `the sandbox ${place.id} has lost a frame's image: ${messageOf(error)}`;
    throw new CausedError("sandbox_lost", message, { cause: error });
  }
}

/** Starts the root's container and lets it begin, as far as that has not been done. */
async function resume(place: FramePlace, root: string): Promise<void> {
  const container = containerOf(place, root);
  const info = await inspected(container);
  if (info === null) throw lost(place.id, null, root);
  const { Labels } = info.Config;
  const spec = specOf(Labels);
  if (info.State.Status === "created") await startCreated(spec, container, place.making);
  else if (!info.State.Running) throw lost(place.id, info.State, root);
  const taken = Labels[LABELS.succession];
  const provided = {
    ...providedBy(place.ref, rightsOf(Labels), await unreachableFrom(place.docker, place.making.local)),
    ...(taken && { succession: JSON.parse(taken) as Succession }),
  };
  try {
    await beginSandbox(place.calls, spec, provided);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const message = `the sandbox ${place.id} does not go on from its frame: ${error.answer}`;
    throw new CausedError("sandbox_lost", message, { cause: error });
  }
}

async function running(place: FramePlace, root: string): Promise<Docker.ContainerInspectInfo> {
  const info = await inspected(containerOf(place, root));
  if (!info?.State.Running) throw lost(place.id, info?.State ?? null, root);
  return info;
}

function containerOf({ docker, installation, id }: Keeper, root: string): Docker.Container {
  return docker.getContainer(rootName(installation, id, root));
}

function specOf(labels: Readonly<Record<string, string>>): SandboxSpec {
  return JSON.parse(labels[LABELS.spec] ?? "{}") as SandboxSpec;
}

function rightsOf(labels: Readonly<Record<string, string>>): Rights {
  return JSON.parse(labels[LABELS.provided] ?? "{}") as Rights;
}
