import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { execa } from "execa";
import { CausedError } from "../../../activities/errors.ts";
import { type PrepareOptions, prepareBase } from "../../../activities/sandbox/base/prepare.ts";
import type { BaseRequest } from "../../../activities/sandbox/base/request.ts";
import { plainUnpacker } from "../../../activities/sandbox/base/unpack.ts";
import { testBase } from "../../support/base.ts";
import { type LayerPart, sha256, writeDockerArchive, writeOciLayout } from "../../support/image.ts";

const prepareModule = new URL("../../../activities/sandbox/base/prepare.ts", import.meta.url).href;

async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "base-test-"));
}

/** A root file system as small as may be. */
async function smallRoot(folder: string): Promise<string> {
  const root = join(folder, "small root");
  await mkdir(join(root, "usr", "bin"), { recursive: true });
  await mkdir(join(root, "proc"));
  await writeFile(join(root, "usr", "bin", "bash"), "#!");
  await chmod(join(root, "usr", "bin", "bash"), 0o4755);
  await writeFile(join(root, "proc", "left-out"), "");
  await symlink("usr/bin", join(root, "bin"));
  return root;
}

function partials(stateFolder: string): Promise<string[]> {
  return readdir(join(stateFolder, "bases", "plain")).then((names) =>
    names.filter((name) => /partial/.test(name)),
  );
}

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

async function checkLayers(t: import("ava").ExecutionContext, root: string): Promise<void> {
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

test("the default base has what set-ups need, and installs nothing by itself twice", async (t) => {
  const base = await testBase();
  const started = performance.now();
  t.is((await testBase()).digest, base.digest);
  t.true(performance.now() - started < 1_000);
  for (const path of [
    "usr/bin/python3",
    "usr/bin/git",
    "usr/bin/gcc",
    "usr/bin/curl",
    "etc/apt/sources.list",
  ]) {
    await t.notThrowsAsync(lstat(join(base.location, path)));
  }
  const recipe = JSON.parse(await readFile(join(base.location, "..", "recipe.json"), "utf8"));
  t.regex(recipe.packages.python3, /^3\./);
  t.is(base.digest, sha256((await readFile(join(base.location, "..", "recipe.json"), "utf8")).trim()));
});

test("a folder becomes a base with modes and links, without what is in its /proc, once per content", async (t) => {
  const folder = await temporaryFolder();
  const path = await smallRoot(folder);
  const lines: string[] = [];
  const options = { stateFolder: join(folder, "state"), progress: (line: string) => lines.push(line) };
  const base = await prepareBase({ kind: "directory", path }, options);
  t.is((await stat(join(base.location, "usr/bin/bash"))).mode & 0o7777, 0o4755);
  t.is(await readlink(join(base.location, "bin")), "usr/bin");
  t.deepEqual(await readdir(join(base.location, "proc")), []);
  const said = lines.length;
  t.is((await prepareBase({ kind: "directory", path }, options)).location, base.location);
  t.is(lines.length, said);
  await writeFile(join(path, "usr/bin/bash"), "#!!");
  t.not((await prepareBase({ kind: "directory", path }, options)).digest, base.digest);
  t.deepEqual(await partials(options.stateFolder), []);
  await rm(folder, { recursive: true });
});

for (const [ending, flag] of [
  ["tar", ""],
  ["tar.gz", "-z"],
  ["tar.xz", "-J"],
  ["tar.zst", "--zstd"],
] as const) {
  test(`a ${ending} becomes a base under its own sha256`, async (t) => {
    const folder = await temporaryFolder();
    const path = join(folder, `root.${ending}`);
    await execa("tar", ["-cf", path, "-C", await smallRoot(folder), ...(flag ? [flag] : []), "."]);
    const base = await prepareBase({ kind: "tar", path }, { stateFolder: join(folder, "state") });
    t.is(base.digest, sha256(await readFile(path)));
    t.is(await readFile(join(base.location, "usr/bin/bash"), "utf8"), "#!");
    await rm(folder, { recursive: true });
  });
}

test("the machine itself is refused as a base", async (t) => {
  const folder = await temporaryFolder();
  const refused = prepareBase({ kind: "directory", path: "/" }, { stateFolder: folder });
  await t.throwsAsync(refused, { message: /this machine itself/ });
  await rm(folder, { recursive: true });
});

test("an OCI layout, as a folder or a tar, becomes the root its layers make", async (t) => {
  const folder = await temporaryFolder();
  const path = join(folder, "layout");
  const { manifest } = await writeOciLayout(path, layers, {
    environment: ["PATH=/opt/bin:/usr/bin", "A=b=c"],
  });
  const options = { stateFolder: join(folder, "state") };
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
  const base = await prepareBase({ kind: "docker-archive", path, name: "some:tag" }, { stateFolder: folder });
  t.is(base.digest, image);
  await checkLayers(t, base.location);
  await rm(folder, { recursive: true });
});

async function failure(t: import("ava").ExecutionContext, request: BaseRequest, options: PrepareOptions) {
  const error = await t.throwsAsync(prepareBase(request, options), { instanceOf: CausedError });
  t.is((error as CausedError).failure, "image_pull");
  t.notRegex(error?.message ?? "", /\n/);
  t.deepEqual(await partials(options.stateFolder), []);
  return error?.message ?? "";
}

test("a layer that is cut off or is not the one the image names is refused and leaves nothing", async (t) => {
  const folder = await temporaryFolder();
  const path = join(folder, "layout");
  await writeOciLayout(path, [[bash], [{ name: "x", content: "x".repeat(100_000) }]]);
  const options = { stateFolder: join(folder, "state") };
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
  const options = { stateFolder: join(folder, "state") };
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

test("processes that ask for the same base at once share one making", async (t) => {
  const folder = await temporaryFolder();
  const path = await smallRoot(folder);
  let unpacked = 0;
  const unpacker = {
    ...plainUnpacker,
    async unpack(tar: string, target: string) {
      unpacked += 1;
      await plainUnpacker.unpack(tar, target);
    },
  };
  const options = { stateFolder: join(folder, "state"), unpacker };
  const bases = await Promise.all([1, 2, 3].map(() => prepareBase({ kind: "directory", path }, options)));
  t.is(new Set(bases.map((base) => base.location)).size, 1);
  t.is(unpacked, 1);
  await rm(folder, { recursive: true });
});

test("a making that was killed with SIGKILL never counts and is cleared by the next one", async (t) => {
  const folder = await temporaryFolder();
  const [path, stateFolder] = [await smallRoot(folder), join(folder, "state")];
  const code = `
    const { prepareBase } = await import(${JSON.stringify(prepareModule)});
    const { plainUnpacker } = await import(${JSON.stringify(prepareModule.replace("prepare.ts", "unpack.ts"))});
    const unpacker = { ...plainUnpacker, async unpack(tar, target) {
      await plainUnpacker.unpack(tar, target);
      console.log("unpacked");
      await new Promise(() => setInterval(() => {}, 1000));
    } };
    await prepareBase({ kind: "directory", path: ${JSON.stringify(path)} }, { stateFolder: ${JSON.stringify(stateFolder)}, unpacker });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  t.is((await partials(stateFolder)).length, 1);
  child.kill("SIGKILL");
  await once(child, "exit");
  const base = await prepareBase({ kind: "directory", path }, { stateFolder });
  t.is(await readFile(join(base.location, "usr/bin/bash"), "utf8"), "#!");
  t.deepEqual(await partials(stateFolder), []);
  await rm(folder, { recursive: true });
});

test("kill -9 while mmdebstrap runs ends it too, mounts and all", async (t) => {
  const folder = await temporaryFolder();
  const code = `
    const { prepareBase } = await import(${JSON.stringify(prepareModule)});
    await prepareBase({ kind: "debian" }, { stateFolder: ${JSON.stringify(folder)}, progress: console.log });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of child.stdout) if (String(line).includes("extracting")) break;
  child.kill("SIGKILL");
  await once(child, "exit");
  const mentions = async () => (await execa("pgrep", ["-f", folder], { reject: false })).stdout;
  for (let look = 0; look < 100 && (await mentions()) !== ""; look++) await sleep(100);
  t.is(await mentions(), "");
  t.false((await readFile("/proc/mounts", "utf8")).includes(folder));
  t.deepEqual(
    (await readdir(join(folder, "bases", "plain"))).filter((name) => /^[0-9a-f]{64}$/.test(name)),
    [],
  );
  await rm(folder, { recursive: true });
});
