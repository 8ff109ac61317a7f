import type Docker from "dockerode";
import { isStatus } from "./client.ts";
import { FRAMES, LABELS, tagPrefix } from "./names.ts";

/** Whose images they are. */
export interface Keeper {
  docker: Docker;
  installation: string;
  /** The sandbox's. */
  id: string;
}

export interface Frame {
  name: string;
  /** How many are below it. */
  depth: number;
  image: string;
}

/** Tag of the image that a root's container was made from: as long as it is there, that image is not in the way. */
export const BASE = "base";
/** An engine may refuse an image until those made from it are gone. */
const MOST_PASSES = 200;

export function frameTag({ depth, name }: Pick<Frame, "depth" | "name">): string {
  return `${String(depth).padStart(4, "0")}.${name}`;
}

/** The root's frames, the lowest first. A frame is a tag: forks have tags of their own on the images they share. */
export async function framesOf(keeper: Keeper, root: string): Promise<Frame[]> {
  const prefix = `${tagPrefix(keeper.installation, keeper.id, root)}.`;
  const frames = (await imagesOf(keeper)).flatMap(({ Id, tags }) =>
    tags.flatMap((tag) => {
      if (!tag.startsWith(prefix)) return [];
      const [, depth, name] = /^(\d{4})\.(.+)$/.exec(tag.slice(prefix.length)) ?? [];
      return depth === undefined || name === undefined ? [] : [{ name, depth: Number(depth), image: Id }];
    }),
  );
  return frames.sort((a, b) => a.depth - b.depth);
}

/** Makes an image of what the container's files are now; its processes stand still meanwhile. Gives its id. */
export async function commitContainer(
  keeper: Keeper,
  container: string,
  root: string,
  tag: string,
): Promise<string> {
  const { Id } = await keeper.docker.getContainer(container).commit({
    _query: { container, repo: FRAMES, tag: tagOf(keeper, root, tag), pause: true },
    _body: { Labels: { [LABELS.role]: "frame" } },
  });
  return Id;
}

export async function tagImage(keeper: Keeper, image: string, root: string, tag: string): Promise<void> {
  await keeper.docker.getImage(image).tag({ repo: FRAMES, tag: tagOf(keeper, root, tag) });
}

export async function untag(keeper: Keeper, root: string, tags: readonly string[]): Promise<void> {
  for (const tag of tags) await remove(keeper, `${FRAMES}:${tagOf(keeper, root, tag)}`);
}

/** All tags of a root that is dropped. */
export async function untagRoot(keeper: Keeper, root: string): Promise<void> {
  const prefix = `${tagPrefix(keeper.installation, keeper.id, root)}.`;
  for (const { tags } of await imagesOf(keeper)) {
    for (const tag of tags) if (tag.startsWith(prefix)) await remove(keeper, `${FRAMES}:${tag}`);
  }
}

/** Removes the sandbox's images that nobody names and nothing stands on. */
export async function dropUnused(keeper: Keeper): Promise<void> {
  for (const { Id, RepoTags } of await imagesOf(keeper)) {
    if ((RepoTags ?? []).every((name) => name.startsWith("<none>"))) await remove(keeper, Id);
  }
}

/** Removes all of the sandbox's images; its containers are gone. What somebody else has named stays theirs. */
export async function removeImages(keeper: Keeper): Promise<void> {
  let left = await imagesOf(keeper);
  for (let passes = 0; left.length > 0 && passes < MOST_PASSES; passes++) {
    for (const { tags } of left) for (const tag of tags) await remove(keeper, `${FRAMES}:${tag}`);
    await dropUnused(keeper);
    const now = await imagesOf(keeper);
    if (JSON.stringify(now) === JSON.stringify(left)) break;
    left = now;
  }
  if (left.length === 0) return;
  process.emitWarning(
    `${keeper.id}: images are left, since something else uses them: ${left.map(({ Id }) => Id)}`,
  );
}

/** Bytes of the sandbox's images, without those that `shown` (an image) stands on and without the base. */
export async function imageBytes(keeper: Keeper, shown: string, base: string): Promise<number> {
  const images = new Map((await imagesOf(keeper)).map((image) => [image.Id, image]));
  const bottom = images.size === 0 ? 0 : (await keeper.docker.getImage(base).inspect()).Size;
  for (let at = images.get(shown); at !== undefined; ) {
    const below = images.get(at.ParentId);
    at.Size = below?.Size ?? bottom;
    at = below;
  }
  let bytes = 0;
  const sizes = new Map([...images].map(([id, { Size }]) => [id, Size]));
  for (const { Size, ParentId } of images.values())
    bytes += Math.max(0, Size - (sizes.get(ParentId) ?? bottom));
  return bytes;
}

/** Only those that this harness made as frames of the sandbox; `tags` are the ones that it gave them. */
async function imagesOf({
  docker,
  installation,
  id,
}: Keeper): Promise<(Docker.ImageInfo & { tags: string[] })[]> {
  const label = [`${LABELS.installation}=${installation}`, `${LABELS.sandbox}=${id}`, `${LABELS.role}=frame`];
  const images = await docker.listImages({ all: true, filters: { label } });
  return images.map((image) => ({
    ...image,
    tags: (image.RepoTags ?? []).flatMap((name) => {
      const end = name.lastIndexOf(":");
      // Some engines put their own host's name before it.
      return name.slice(0, end).split("/").at(-1) === FRAMES ? [name.slice(end + 1)] : [];
    }),
  }));
}

function tagOf({ installation, id }: Keeper, root: string, tag: string): string {
  return `${tagPrefix(installation, id, root)}.${tag}`;
}

/** Never forced: that would take an image from under a container. A name goes also when its image has to stay. */
async function remove({ docker }: Keeper, name: string): Promise<void> {
  try {
    await docker.getImage(name).remove();
  } catch (error) {
    if (!isStatus(error, 404, 409)) throw error;
  }
}
