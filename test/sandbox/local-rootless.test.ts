import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { execa } from "execa";
import { initBinary } from "../../activities/sandbox/common/init-binary.ts";
import { localDriver } from "../../activities/sandbox/local/driver.ts";
import { idMap } from "../../activities/sandbox/local/id-map.ts";
import { testBase } from "../support/base.ts";
import { probe, specOf } from "./subject.ts";

const PROJECT = join(import.meta.dirname, "..", "..");
const USER = `bench-${process.pid}`;

/** The contract's tests that differ without root or show that nothing does; the others only take their time. */
const MATCHES = [
  "*same sandbox*",
  "*daemon*",
  "*setuid*",
  "*binary*",
  "*readFile*",
  "*pop *",
  "*fork*",
  "*frames*",
  "*killer*",
  "*ways out*",
  "*host*",
  "*network*",
];

const missing = whatIsMissing();
const rootless = missing === null ? test.serial : test.serial.skip;
if (missing !== null)
  test(`sandboxes of a user with subordinate ids are not tested: ${missing}`, (t) => t.pass());

function whatIsMissing(): string | null {
  if (process.getuid?.() !== 0) return "only root can make the user (the contract runs as this user anyway)";
  for (const tool of ["useradd", "userdel", "runuser", "newuidmap", "tar"]) {
    if (spawnSync("which", [tool]).status !== 0) return `${tool} is not there`;
  }
  return null;
}

/** The default base, packed with the ids that it has inside. */
async function packBase(target: string): Promise<void> {
  const { location } = await testBase();
  const { user, group } = idMap();
  const folder = await mkdtemp(join(tmpdir(), "rootless-tools-"));
  const command = ["mapped", String(user), String(group), "tar", "-c", "--numeric-owner", "-f", "-", "."];
  await execa(await initBinary(folder), command, { cwd: location, stdout: { file: target }, buffer: false });
  await rm(folder, { recursive: true });
}

rootless("a user with subordinate ids gets the same sandboxes", async (t) => {
  t.timeout(540_000);
  await execa("useradd", ["--create-home", USER]);
  const home = (await execa("getent", ["passwd", USER])).stdout.split(":")[5] ?? "";
  const tar = join(tmpdir(), `${USER}.tar`);
  try {
    await packBase(tar);
    await chmod(tar, 0o644);
    const unpack = `
      import { localUnpacker } from "${PROJECT}/activities/sandbox/local/base-unpack.ts";
      await localUnpacker("${home}/state").unpack("${tar}", "${home}/base");`;
    const asUser = (args: string[]) =>
      execa("runuser", ["-u", USER, "--", process.execPath, ...args], {
        cwd: PROJECT,
        env: { HOME: home, TMPDIR: home, BENCH_TEST_BASE: `${home}/base`, PATH: process.env.PATH ?? "" },
        extendEnv: false,
        reject: false,
        all: true,
      });
    t.is((await asUser(["--input-type=module", "-e", unpack])).all, "");
    const matches = MATCHES.flatMap((match) => ["--match", match]);
    const ava = join(PROJECT, "node_modules", "ava", "entrypoints", "cli.mjs");
    const contract = await asUser([ava, "test/sandbox/local.test.ts", "--tap", ...matches]);
    t.log(contract.all.split("\n").filter((line) => /^(not )?ok/.test(line)).length, "tests as", USER);
    t.is(contract.exitCode, 0, contract.all);
  } finally {
    await rm(tar, { force: true });
    await execa("userdel", ["--remove", USER], { reject: false });
    // Files of the subordinate ids, which userdel may leave.
    await rm(home, { recursive: true, force: true });
  }
});

rootless("root's sandboxes work under a folder that only another user may enter", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "private-"));
  try {
    await mkdir(join(home, "mount"));
    await chown(home, 12345, 12345);
    await chmod(home, 0o700);
    const driver = localDriver({ stateFolder: join(home, "state"), host: "test" });
    const spec = await specOf({ base: testBase } as never, {
      mounts: [{ source: join(home, "mount"), target: "/opt/m" }],
    });
    const ref = await driver.create(spec);
    t.is(await probe(driver, ref).say("ls -d /opt/m && echo ran"), "/opt/m\nran");
    await driver.destroy(ref);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
