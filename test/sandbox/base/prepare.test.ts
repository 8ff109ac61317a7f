import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { execa } from "execa";
import { prepareBase } from "../../../activities/sandbox/base/prepare.ts";
import { plainUnpacker } from "../../../activities/sandbox/base/unpack.ts";
import { partialFolders, plainOptions, temporaryFolder, testBase } from "../../support/base.ts";
import { sha256 } from "../../support/image.ts";
import { testStateFolder } from "../../support/state.ts";

const prepareModule = new URL("../../../activities/sandbox/base/prepare.ts", import.meta.url).href;
const unpackModule = new URL("../../../activities/sandbox/base/unpack.ts", import.meta.url).href;

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

test("the default base has what set-ups need and is made once", async (t) => {
  const base = await testBase();
  const lines: string[] = [];
  const options = { stateFolder: testStateFolder(), progress: (line: string) => lines.push(line) };
  t.is((await prepareBase({ kind: "debian" }, options)).location, base.location);
  t.deepEqual(lines, []);
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
  const options = { ...plainOptions(folder), progress: (line: string) => lines.push(line) };
  const base = await prepareBase({ kind: "directory", path }, options);
  t.is((await stat(join(base.location, "usr/bin/bash"))).mode & 0o7777, 0o4755);
  t.is(await readlink(join(base.location, "bin")), "usr/bin");
  t.deepEqual(await readdir(join(base.location, "proc")), []);
  const said = lines.length;
  t.is((await prepareBase({ kind: "directory", path }, options)).location, base.location);
  t.is(lines.length, said);
  await writeFile(join(path, "usr/bin/bash"), "#!!");
  t.not((await prepareBase({ kind: "directory", path }, options)).digest, base.digest);
  t.deepEqual(await partialFolders(options.stateFolder), []);
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
    const base = await prepareBase({ kind: "tar", path }, plainOptions(folder));
    t.is(base.digest, sha256(await readFile(path)));
    t.is(await readFile(join(base.location, "usr/bin/bash"), "utf8"), "#!");
    await rm(folder, { recursive: true });
  });
}

test("the machine itself is refused as a base", async (t) => {
  const folder = await temporaryFolder();
  const refused = prepareBase({ kind: "directory", path: "/" }, plainOptions(folder));
  await t.throwsAsync(refused, { message: /this machine itself/ });
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
  const options = { ...plainOptions(folder), unpacker };
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
    const { plainUnpacker } = await import(${JSON.stringify(unpackModule)});
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
  t.is((await partialFolders(stateFolder)).length, 1);
  child.kill("SIGKILL");
  await once(child, "exit");
  const base = await prepareBase({ kind: "directory", path }, plainOptions(folder));
  t.is(await readFile(join(base.location, "usr/bin/bash"), "utf8"), "#!");
  t.deepEqual(await partialFolders(stateFolder), []);
  await rm(folder, { recursive: true });
});

test("kill -9 while mmdebstrap runs ends it too, mounts and all", async (t) => {
  const folder = await temporaryFolder();
  const code = `
    const { prepareBase } = await import(${JSON.stringify(prepareModule)});
    const { plainUnpacker: unpacker } = await import(${JSON.stringify(unpackModule)});
    const stateFolder = ${JSON.stringify(folder)};
    await prepareBase({ kind: "debian" }, { stateFolder, unpacker, progress: console.log });`;
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
