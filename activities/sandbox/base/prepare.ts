import { join, resolve } from "node:path";
import { CausedError } from "../../errors.ts";
import { withLock } from "../../store/lock.ts";
import type { SandboxBase } from "../driver.ts";
import { localUnpacker } from "../local/base-unpack.ts";
import {
  type BaseCache,
  type CachedBase,
  complete,
  findByDigest,
  findByKey,
  lockPath,
  partialFolder,
  rememberKey,
  removeLeftOver,
  removePartial,
} from "./cache.ts";
import { debianMaker } from "./debian.ts";
import { directoryMaker, tarMaker } from "./files.ts";
import { archiveMaker, imageMaker } from "./image.ts";
import type { BaseMaker, BaseRecipe } from "./made.ts";
import type { BaseRequest } from "./request.ts";
import type { BaseUnpacker } from "./unpack.ts";

export { parseBaseRequest } from "./request.ts";

export interface PrepareOptions {
  stateFolder: string;
  /** Told one line at a time what takes long. */
  progress?: (line: string) => void;
  signal?: AbortSignal;
  /** Default: the local driver's. */
  unpacker?: BaseUnpacker;
}

/**
 * Gets or makes a base root file system; `location` is its folder. Whoever asks at once for the same shares one
 * making, and what a killed process left never counts. An image tag, once fetched, is not looked up again.
 * Throws CausedError `image_pull` when a tool, an archive or a registry fails, UsageError when the request is wrong.
 */
export async function prepareBase(
  request: BaseRequest,
  options: PrepareOptions,
): Promise<SandboxBase & { recipe: BaseRecipe }> {
  const cache = {
    folder: join(resolve(options.stateFolder), "bases"),
    unpacker: options.unpacker ?? localUnpacker(options.stateFolder),
  };
  const maker = makerOf(request);
  const key = await maker.key();
  const known = await findByKey(cache, key);
  if (known !== null) return known;
  const waiting = (pids: number[]) =>
    options.progress?.(`process ${pids.join(", ")} is making the base; waiting for it`);
  return withLock(
    lockPath(cache, key),
    async () => (await findByKey(cache, key)) ?? (await make(cache, maker, key, options)),
    options.signal ? { signal: options.signal, waiting } : { waiting },
  );
}

async function make(
  cache: BaseCache,
  maker: BaseMaker,
  key: string,
  options: PrepareOptions,
): Promise<CachedBase> {
  const partial = await partialFolder(cache);
  try {
    await removeLeftOver(cache);
    const made = await maker.make(partial, options);
    let base = await findByDigest(cache, made.digest);
    if (base === null) {
      options.progress?.("unpacking the base");
      const root = join(partial, "staged", "root");
      await cache.unpacker.unpack(made.tar, root);
      if (!(await cache.unpacker.hasBash(root))) throw noBash();
      await complete(cache, partial, made.digest, made.recipe);
      base = await findByDigest(cache, made.digest);
    }
    if (base === null) throw new Error(`base ${made.digest} vanished while it was being made`);
    await rememberKey(cache, key, made.digest);
    return base;
  } finally {
    await removePartial(cache, partial);
  }
}

function makerOf(request: BaseRequest): BaseMaker {
  switch (request.kind) {
    case "debian":
      return debianMaker();
    case "image":
      return imageMaker(request.reference);
    case "oci":
    case "docker-archive":
      return archiveMaker(request);
    case "directory":
      return directoryMaker(request.path);
    case "tar":
      return tarMaker(request.path);
  }
}

/** Every command runs by bash; better to say at once that there is none. */
function noBash(): CausedError {
  return new CausedError(
    "image_pull",
    "base: neither /usr/bin/bash nor /bin/bash is in it, so it is no root file system that commands can run in. " +
      "Remedy: give a base with bash (of an image archive, name it docker-archive:FILE or oci:FILE)",
  );
}
