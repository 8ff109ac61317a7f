import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { z } from "zod";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { CausedError } from "../../errors.ts";
import type { Layer } from "./layer.ts";

/** An image as files on this machine. */
export interface ImageFiles {
  /** 64 hex digits: of the manifest (OCI), or of the config, which is Docker's image id. */
  digest: string;
  layers: Layer[];
  environment: Record<string, string>;
}

const descriptor = z.object({
  mediaType: z.string().optional(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be a sha256 digest"),
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
type Descriptor = z.infer<typeof descriptor>;

const index = z.object({ manifests: z.array(descriptor).min(1) });
const manifest = z.object({ config: descriptor, layers: z.array(descriptor) });
const config = z.object({
  config: z.object({ Env: z.array(z.string()).nullish() }).nullish(),
  rootfs: z.object({ diff_ids: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)) }),
});
const dockerManifest = z
  .array(
    z.object({ Config: z.string(), RepoTags: z.array(z.string()).nullish(), Layers: z.array(z.string()) }),
  )
  .min(1);

const REF_NAME = "org.opencontainers.image.ref.name";
const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };

/** Reads an OCI image layout; `name` chooses among several images. */
export async function readOciLayout(folder: string, name: string | null): Promise<ImageFiles> {
  const top = parse(index, await readInside(folder, "index.json"), join(folder, "index.json"));
  let chosen = choose(top.manifests, name, folder, (one) => one.annotations?.[REF_NAME] ?? one.digest);
  let text = await readBlob(folder, chosen.digest);
  if ("manifests" in (JSON.parse(text.toString("utf8")) as object)) {
    const platforms = parse(index, text, chosen.digest).manifests;
    chosen = choosePlatform(platforms, folder);
    text = await readBlob(folder, chosen.digest);
  }
  const { config: settings, layers } = parse(manifest, text, chosen.digest);
  const paths = await Promise.all(layers.map((layer) => inside(folder, blobPath(layer.digest))));
  return {
    digest: hex(chosen.digest),
    ...fromConfig(await readBlob(folder, settings.digest), paths, folder),
  };
}

/** Reads an unpacked `docker save` archive; `name` (a tag) chooses among several images. */
export async function readDockerArchive(folder: string, name: string | null): Promise<ImageFiles> {
  const all = parse(dockerManifest, await readInside(folder, "manifest.json"), join(folder, "manifest.json"));
  const chosen = choose(all, name, folder, (one) => one.RepoTags?.[0] ?? one.Config);
  const settings = await readInside(folder, chosen.Config);
  const paths = await Promise.all(chosen.Layers.map((layer) => inside(folder, layer)));
  return { digest: sha256(settings), ...fromConfig(settings, paths, folder) };
}

function fromConfig(text: Buffer, paths: string[], from: string): Omit<ImageFiles, "digest"> {
  const parsed = parse(config, text, `config of ${from}`);
  const ids = parsed.rootfs.diff_ids;
  if (ids.length !== paths.length) {
    throw new CausedError(
      "image_pull",
      `${from}: ${paths.length} layers, but its config names ${ids.length}`,
    );
  }
  const environment: Record<string, string> = {};
  for (const line of parsed.config?.Env ?? []) {
    const equals = line.indexOf("=");
    if (equals > 0) environment[line.slice(0, equals)] = line.slice(equals + 1);
  }
  return { layers: paths.map((path, i) => ({ path, diffId: hex(ids[i] ?? "") })), environment };
}

function choose<T>(all: T[], name: string | null, from: string, nameOf: (one: T) => string): T {
  const fitting = name === null ? all : all.filter((one) => nameOf(one) === name);
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) return first;
  const names = all.map(nameOf).join(", ");
  throw new UsageError(`base: ${from} holds the images ${names}. Remedy: name one, as in oci:PATH:NAME`);
}

function choosePlatform(all: Descriptor[], from: string): Descriptor {
  const wanted = ARCHITECTURES[process.arch] ?? process.arch;
  const found = all.find((one) => one.platform?.os === "linux" && one.platform.architecture === wanted);
  if (found) return found;
  const there = all.map((one) => `${one.platform?.os}/${one.platform?.architecture}`).join(", ");
  throw new UsageError(`base: ${from} has no image for linux/${wanted} (it has ${there})`);
}

async function readBlob(folder: string, digest: string): Promise<Buffer> {
  const content = await readInside(folder, blobPath(digest));
  if (sha256(content) === hex(digest)) return content;
  throw new CausedError("image_pull", `${folder}: blob ${digest} has sha256 ${sha256(content)}`);
}

async function readInside(folder: string, name: string): Promise<Buffer> {
  return readFile(await inside(folder, name));
}

/** The real path of a file of the image; archives may hold links, but none may lead out. */
async function inside(folder: string, name: string): Promise<string> {
  const root = await realpath(folder);
  const path = await realpath(join(root, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    throw new CausedError("image_pull", `${folder} has no ${name}: it is no whole image`, { cause: error });
  });
  if (path.startsWith(root + sep)) return path;
  throw new CausedError("image_pull", `${folder}: ${name} leads out of the image`);
}

function parse<T>(schema: z.ZodType<T>, text: Buffer, from: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text.toString("utf8"));
  } catch (error) {
    throw new CausedError("image_pull", `${from} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new CausedError("image_pull", `${from}: ${issue?.path.join(".")}: ${issue?.message}`);
}

function blobPath(digest: string): string {
  return join("blobs", "sha256", hex(digest));
}

function hex(digest: string): string {
  return digest.replace(/^sha256:/, "");
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
