import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { execa } from "execa";
import type { ProcessIdentity } from "../../activities/store/process-identity.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { Binaries } from "./build.ts";
import { CONTAINERD_SOCKET, PAUSE_IMAGE } from "./configuration.ts";
import { type ImageConfig, imageArchive } from "./image-archive.ts";
import { enter } from "./node.ts";
import { tool } from "./tool.ts";

/** How to speak to the node's containerd. */
export interface Containerd {
  keeper: ProcessIdentity;
  binaries: Binaries;
}

const NAME = /^[a-z0-9.-]+(:\d+)?\/[a-z0-9._/-]+:[\w.-]+$/;
const SLEEP: ImageConfig = { command: ["sleep", "infinity"] };
/** Where a tar that is not compressed says that it is one. */
const MAGIC = { text: "ustar", offset: 257 };

/** The image that every pod's namespaces come from. */
export async function ensurePauseImage(containerd: Containerd): Promise<void> {
  if ((await imageNames(containerd)).includes(PAUSE_IMAGE)) return;
  const owner = ["--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  const program = ["-C", dirname(containerd.binaries.pause), "pause"];
  await importPacked(containerd, [...owner, ...program], PAUSE_IMAGE, { entrypoint: ["/pause"] });
}

/**
 * Makes an image of what lies at `source` under `name`: what `docker save` or an OCI tool wrote, the tar of a root file
 * system, or its folder. Pods then use it with imagePullPolicy Never or IfNotPresent. Throws UsageError.
 */
export async function importImage(containerd: Containerd, source: string, name: string): Promise<void> {
  if (!NAME.test(name))
    throw new UsageError(`image name ${name}: give registry, name and tag, for example localhost/sandbox:1`);
  const path = resolve(source);
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`image ${source}: can't be read (${error.code}); give a tar file or a folder`);
  });
  if (stats.isDirectory()) {
    const whole = ["--numeric-owner", "--xattrs", "--xattrs-include=*", "--one-file-system", "--sort=name"];
    return importPacked(containerd, [...whole, "-C", path, "."], name, SLEEP);
  }
  if (await isArchive(path)) {
    await ctr(containerd, ["images", "import", "--index-name", name, path]);
    return;
  }
  if (!(await isPlainTar(path)))
    throw new UsageError(`image ${source}: is no tar, or a compressed one. Remedy: unpack it to a plain tar`);
  await importLayer(containerd, path, name, SLEEP);
}

export async function imageNames(containerd: Containerd): Promise<string[]> {
  return (await ctr(containerd, ["images", "list", "--quiet"])).split("\n").filter(Boolean);
}

async function isArchive(path: string): Promise<boolean> {
  const listed = await execa("tar", ["-tf", path], { stdin: "ignore", reject: false, stderr: "ignore" });
  const names = listed.stdout.split("\n").map((name) => name.replace(/^\.\//, ""));
  return names.includes("manifest.json") || names.includes("index.json");
}

async function isPlainTar(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(5), 0, 5, MAGIC.offset);
    return buffer.toString("latin1", 0, bytesRead) === MAGIC.text;
  } finally {
    await file.close();
  }
}

/** Packs by tar with these arguments; the size must be known before the image can be written. */
async function importPacked(
  containerd: Containerd,
  packing: readonly string[],
  name: string,
  config: ImageConfig,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "testcluster-"));
  try {
    const layer = join(work, "layer.tar");
    await tool("tar", ["-cf", layer, ...packing]);
    await importLayer(containerd, layer, name, config);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function importLayer(
  containerd: Containerd,
  layer: string,
  name: string,
  config: ImageConfig,
): Promise<void> {
  await ctr(containerd, ["images", "import", "-"], await imageArchive(layer, name, config));
}

async function ctr({ keeper, binaries }: Containerd, args: string[], input?: Readable): Promise<string> {
  const whole = ["--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", ...args];
  const [command = "", ...rest] = enter(keeper, [join(binaries.runtime, "ctr"), ...whole]);
  const result = await execa(command, rest, {
    ...(input ? { input } : { stdin: "ignore" as const }),
    reject: false,
  });
  if (result.failed) throw new Error(`ctr ${args.join(" ")} failed: ${result.stderr || result.shortMessage}`);
  return result.stdout;
}
