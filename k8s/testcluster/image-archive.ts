import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pack } from "tar-stream";

export interface ImageConfig {
  entrypoint?: string[];
  command?: string[];
}

const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };
const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What `docker save` would write for an image of one layer, the uncompressed tar `layer`. */
export async function imageArchive(layer: string, name: string, config: ImageConfig): Promise<Readable> {
  const { size } = await stat(layer);
  const digest = await sha256(layer);
  const description = JSON.stringify({
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config: { Env: [PATH], Entrypoint: config.entrypoint ?? null, Cmd: config.command ?? null },
    rootfs: { type: "layers", diff_ids: [`sha256:${digest}`] },
    history: [{ created: "1970-01-01T00:00:00Z", created_by: "setup-bench" }],
  });
  const file = `${createHash("sha256").update(description).digest("hex")}.json`;
  const manifest = JSON.stringify([{ Config: file, RepoTags: [name], Layers: ["layer.tar"] }]);
  const archive = pack();
  const fill = async () => {
    archive.entry({ name: file }, description);
    archive.entry({ name: "manifest.json" }, manifest);
    await pipeline(
      createReadStream(layer, { highWaterMark: 1 << 20 }),
      archive.entry({ name: "layer.tar", size }),
    );
    archive.finalize();
  };
  fill().catch((error: Error) => archive.destroy(error));
  return Readable.from(archive);
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
