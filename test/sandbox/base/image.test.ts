import { readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { execa } from "execa";
import { CausedError } from "../../../activities/errors.ts";
import { type PrepareOptions, prepareBase } from "../../../activities/sandbox/base/prepare.ts";
import type { BaseRequest } from "../../../activities/sandbox/base/request.ts";
import { partialFolders, plainOptions, temporaryFolder } from "../../support/base.ts";
import { type LayerPart, writeDockerArchive, writeOciLayout } from "../../support/image.ts";

const bash: LayerPart = { name: "usr/bin/bash", content: "#!" };

/** Layers with all that is hard: whiteouts, an opaque folder, hard links whose file is replaced, owners, modes. */
const layers: LayerPart[][] = [
  [
    { name: "./", type: "directory", mode: 0o755 },
    { name: "usr/bin/", type: "directory" },
    bash,
    { name: "etc/old", content: "old" },
    { name: "etc/gone", content: "gone" },
    { name: "data/", type: "directory" },
    { name: "data/hidden", content: "hidden" },
    { name: "first", content: "shared" },
    { name: "second", type: "link", linkname: "first" },
    { name: "third", type: "link", linkname: "./first" },
    { name: "dev/null", type: "character-device", devmajor: 1, devminor: 3 },
  ],
  [
    { name: "etc/.wh.gone", content: "" },
    { name: "etc/old", content: "new", mode: 0o600, uid: 7, gid: 8 },
    { name: "data/.wh..wh..opq", content: "" },
    { name: "data/seen", content: "seen" },
    { name: "first", content: "replaced" },
  ],
  [
    { name: "link", type: "symlink", linkname: "/etc/old" },
    { name: `long/${"n".repeat(180)}`, content: "long" },
  ],
];

async function checkLayers(t: ExecutionContext, root: string): Promise<void> {
  t.is(await readFile(join(root, "etc/old"), "utf8"), "new");
  t.like(await stat(join(root, "etc/old")), { uid: 7, gid: 8, mode: 0o100600 });
  t.deepEqual(await readdir(join(root, "etc")), ["old"]);
  t.deepEqual(await readdir(join(root, "data")), ["seen"]);
  t.is(await readFile(join(root, "first"), "utf8"), "replaced");
  t.is(await readFile(join(root, "third"), "utf8"), "shared");
  const [second, third] = [await stat(join(root, "second")), await stat(join(root, "third"))];
  t.is(second.ino, third.ino);
  t.is(await readlink(join(root, "link")), "/etc/old");
  t.is(await readFile(join(root, "long", "n".repeat(180)), "utf8"), "long");
  t.false((await readdir(root)).includes("dev") && (await readdir(join(root, "dev"))).length > 0);
}

test("an OCI layout, as a folder or a tar, becomes the root its layers make", async (t) => {
  const folder = await temporaryFolder();
  const path = join(folder, "layout");
  const { manifest } = await writeOciLayout(path, layers, {
    environment: ["PATH=/opt/bin:/usr/bin", "A=b=c"],
  });
  const options = plainOptions(folder);
  const base = await prepareBase({ kind: "oci", path, name: null }, options);
  t.is(base.digest, manifest);
  await checkLayers(t, base.location);
  t.like(base.recipe, { kind: "image", environment: { PATH: "/opt/bin:/usr/bin", A: "b=c" } });
  await execa("tar", ["-cf", join(folder, "layout.tar"), "-C", path, "."]);
  const again = await prepareBase({ kind: "oci", path: join(folder, "layout.tar"), name: "latest" }, options);
  t.is(again.location, base.location);
  await rm(folder, { recursive: true });
});

test("what docker save writes becomes the root its layers make", async (t) => {
  const folder = await temporaryFolder();
  const { image } = await writeDockerArchive(join(folder, "saved"), layers);
  const path = join(folder, "saved.tar");
  await execa("tar", ["-cf", path, "-C", join(folder, "saved"), "."]);
  const base = await prepareBase({ kind: "docker-archive", path, name: "some:tag" }, plainOptions(folder));
  t.is(base.digest, image);
  await checkLayers(t, base.location);
  await rm(folder, { recursive: true });
});

async function failure(t: ExecutionContext, request: BaseRequest, options: PrepareOptions) {
  const error = await t.throwsAsync(prepareBase(request, options), { instanceOf: CausedError });
  t.is((error as CausedError).failure, "image_pull");
  t.notRegex(error?.message ?? "", /\n/);
  t.deepEqual(await partialFolders(options.stateFolder), []);
  return error?.message ?? "";
}

test("a layer that is cut off or is not the one the image names is refused and leaves nothing", async (t) => {
  const folder = await temporaryFolder();
  const path = join(folder, "layout");
  await writeOciLayout(path, [[bash], [{ name: "x", content: "x".repeat(100_000) }]]);
  const options = plainOptions(folder);
  const blobs = join(path, "blobs", "sha256");
  const sizes = await Promise.all(
    (await readdir(blobs)).map(async (name) => ({ name, content: await readFile(join(blobs, name)) })),
  );
  const zstd = sizes.find(({ content }) => content.readUInt32LE(0) === 0xfd2fb528);
  const gzip = sizes.find(({ content }) => content.readUInt16BE(0) === 0x1f8b);
  if (!zstd || !gzip) return t.fail("both layers are there");
  await writeFile(join(blobs, zstd.name), zstd.content.subarray(0, zstd.content.length / 2));
  t.regex(await failure(t, { kind: "oci", path, name: null }, options), /layer .*(broken|sha256)/);
  await writeFile(join(blobs, zstd.name), gzip.content);
  t.regex(await failure(t, { kind: "oci", path, name: null }, options), /sha256 is .*, the image says/);
  await rm(folder, { recursive: true });
});

test("an image without bash, a broken tar and an unreachable registry each say what is wrong", async (t) => {
  const folder = await temporaryFolder();
  const options = plainOptions(folder);
  await writeOciLayout(join(folder, "layout"), [[{ name: "x", content: "x" }]]);
  t.regex(await failure(t, { kind: "oci", path: join(folder, "layout"), name: null }, options), /bash/);
  await writeFile(join(folder, "broken.tar"), "this is no tar");
  t.regex(
    await failure(t, { kind: "tar", path: join(folder, "broken.tar") }, options),
    /tar failed .*tar archive/,
  );
  const registry = await failure(t, { kind: "image", reference: "127.0.0.1:1/some/image" }, options);
  t.regex(registry, /skopeo (failed .*127\.0\.0\.1:1|is missing\. Remedy: apt-get install skopeo)/);
  await rm(folder, { recursive: true });
});
