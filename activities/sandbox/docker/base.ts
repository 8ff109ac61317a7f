import { createReadStream } from "node:fs";
import { join } from "node:path";
import type Docker from "dockerode";
import { withLock } from "../../store/lock.ts";
import type { BaseRecipe } from "../base/made.ts";
import { type PrepareOptions, prepareBase } from "../base/prepare.ts";
import type { BaseRequest } from "../base/request.ts";
import { TAR, tarKeeper } from "../base/tar-keeper.ts";
import type { SandboxBase } from "../driver.ts";
import { asked, connectEngine } from "./client.ts";
import { followed, hasImage } from "./images.ts";
import { IMAGES } from "./names.ts";
import { pullImage } from "./pull.ts";

/**
 * The base as an image of the engine; `location` is the image's name there. A base of this harness is imported once per
 * engine and named by its digest; an image of a registry is pulled by the engine, once. Throws CausedError `image_pull`
 * when a tool, an archive or a registry fails, `capacity` when the engine does not answer.
 */
export async function dockerBase(
  request: BaseRequest,
  options: Omit<PrepareOptions, "unpacker"> & { engine?: string },
): Promise<SandboxBase & { recipe: BaseRecipe }> {
  const docker = connectEngine(options.engine);
  return asked(docker, "prepare the base", async () => {
    if (request.kind === "image") return pullImage(docker, request.reference, options);
    return importBase(docker, request, options);
  });
}

/** Imports the base under its digest's name unless the engine has it; whoever asks at once waits for the first. */
async function importBase(
  docker: Docker,
  request: BaseRequest,
  options: PrepareOptions,
): Promise<SandboxBase & { recipe: BaseRecipe }> {
  const {
    digest,
    recipe,
    location: folder,
  } = await prepareBase(request, { ...options, unpacker: tarKeeper });
  const location = `${IMAGES}:${digest}`;
  await withLock(join(options.stateFolder, "bases", "tar", "locks", `import-${digest}`), async () => {
    if (await hasImage(docker, location)) return;
    options.progress?.("importing the base into the engine");
    const stream = await docker.importImage(createReadStream(join(folder, TAR)), {
      repo: IMAGES,
      tag: digest,
    });
    await followed(docker, stream);
  });
  return { digest, location, recipe };
}
