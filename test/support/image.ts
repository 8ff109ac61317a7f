import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Header, pack } from "tar-stream";

/** One entry of a layer: its header and, for files, its content. */
export type LayerPart = Partial<Header> & { name: string; content?: string };

export function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The bytes of a tar with these entries. */
export async function layerTar(parts: readonly LayerPart[]): Promise<Buffer> {
  const tar = pack();
  for (const { content, ...header } of parts) {
    if (content === undefined) tar.entry({ mtime: new Date(0), ...header });
    else tar.entry({ mtime: new Date(0), ...header }, content);
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Writes an OCI image layout; layers are compressed in turn with gzip, with zstd and not at all. */
export async function writeOciLayout(
  folder: string,
  layers: readonly (readonly LayerPart[])[],
  options: { environment?: string[]; name?: string } = {},
): Promise<{ manifest: string }> {
  const blobs = join(folder, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });
  const put = async (content: Buffer | string, mediaType: string) => {
    await writeFile(join(blobs, sha256(content)), content);
    return { mediaType, digest: `sha256:${sha256(content)}`, size: Buffer.byteLength(content) };
  };
  const tars = await Promise.all(layers.map(layerTar));
  const compressions = [gzipSync, zstdCompressSync, (plain: Buffer) => plain];
  const descriptors = [];
  for (const [i, tar] of tars.entries()) {
    const compress = compressions[i % compressions.length] ?? gzipSync;
    descriptors.push(await put(compress(tar), "application/vnd.oci.image.layer.v1.tar"));
  }
  const config = await put(
    imageConfig(tars, options.environment),
    "application/vnd.oci.image.config.v1+json",
  );
  const manifest = await put(
    JSON.stringify({ schemaVersion: 2, config, layers: descriptors }),
    "application/vnd.oci.image.manifest.v1+json",
  );
  const annotations = { "org.opencontainers.image.ref.name": options.name ?? "latest" };
  await writeFile(join(folder, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(join(folder, "index.json"), JSON.stringify({ manifests: [{ ...manifest, annotations }] }));
  return { manifest: manifest.digest.slice("sha256:".length) };
}

/** Writes what `docker save` writes, unpacked. */
export async function writeDockerArchive(
  folder: string,
  layers: readonly (readonly LayerPart[])[],
): Promise<{ image: string }> {
  const tars = await Promise.all(layers.map(layerTar));
  for (const [i, tar] of tars.entries()) {
    await mkdir(join(folder, `layer${i}`), { recursive: true });
    await writeFile(join(folder, `layer${i}`, "layer.tar"), tar);
  }
  const config = imageConfig(tars, ["PATH=/usr/bin"]);
  await writeFile(join(folder, `${sha256(config)}.json`), config);
  const listing = {
    Config: `${sha256(config)}.json`,
    RepoTags: ["some:tag"],
    Layers: tars.map((_, i) => `layer${i}/layer.tar`),
  };
  await writeFile(join(folder, "manifest.json"), JSON.stringify([listing]));
  return { image: sha256(config) };
}

function imageConfig(tars: Buffer[], environment: string[] = []): string {
  const diffIds = tars.map((tar) => `sha256:${sha256(tar)}`);
  return JSON.stringify({ config: { Env: environment }, rootfs: { type: "layers", diff_ids: diffIds } });
}
