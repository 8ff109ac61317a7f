import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import { fileKey } from "./files.ts";
import { flattenLayers } from "./flatten.ts";
import { type ImageFiles, readDockerArchive, readOciLayout } from "./image-files.ts";
import type { BaseMaker, MadeBase, MakeOptions } from "./made.ts";
import type { BaseRequest } from "./request.ts";
import { runTool } from "./tool.ts";

/** An image of a registry, fetched by skopeo with the user's own registry logins. */
export function imageMaker(reference: string): BaseMaker {
  return {
    key: async () => canonicalJson({ kind: "image", reference }),
    async make(work, options) {
      const layout = join(work, "image");
      options.progress?.(`fetching ${reference}`);
      const args = ["copy", "--quiet", "--retry-times", "3", `docker://${reference}`, `oci:${layout}:base`];
      await runTool("skopeo", args, { remedy: "apt-get install skopeo", signal: options.signal });
      return makeImage(reference, await readOciLayout(layout, null), work, options);
    },
  };
}

/** An OCI layout or a `docker save` archive, as a file or already unpacked. */
export function archiveMaker(request: Extract<BaseRequest, { kind: "oci" | "docker-archive" }>): BaseMaker {
  const { kind, path, name } = request;
  const read = kind === "oci" ? readOciLayout : readDockerArchive;
  const listing = kind === "oci" ? "index.json" : "manifest.json";
  return {
    async key() {
      const content = (await stat(path)).isDirectory()
        ? await readFile(join(path, listing), "utf8")
        : await fileKey(kind, path);
      return canonicalJson({ kind, path, name, content });
    },
    async make(work, options) {
      const isFolder = (await stat(path)).isDirectory();
      const folder = isFolder ? path : join(work, "image");
      if (!isFolder) await unpackArchive(path, folder, options);
      return makeImage(path, await read(folder, name), work, options);
    },
  };
}

async function unpackArchive(path: string, folder: string, options: MakeOptions): Promise<void> {
  await mkdir(folder);
  const args = ["-xf", path, "-C", folder, "--no-same-owner", "--no-same-permissions"];
  await runTool("tar", args, { remedy: "apt-get install tar", signal: options.signal });
}

async function makeImage(
  reference: string,
  image: ImageFiles,
  work: string,
  options: MakeOptions,
): Promise<MadeBase> {
  const tar = join(work, "root.tar");
  options.progress?.(`putting ${image.layers.length} layers of ${reference} together`);
  await flattenLayers(image.layers, tar);
  const layers = image.layers.map((layer) => layer.diffId);
  const { digest, environment } = image;
  return { tar, digest, recipe: { kind: "image", reference, manifest: digest, layers, environment } };
}
