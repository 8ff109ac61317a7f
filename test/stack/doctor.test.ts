import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { execa } from "execa";
import type { Check } from "../../scripts/stack/doctor/check.ts";
import { diagnose, diagnoseLocally } from "../../scripts/stack/doctor/diagnose.ts";
import { fix, isFixable } from "../../scripts/stack/doctor/fix.ts";
import { renderChecks } from "../../scripts/stack/doctor/text.ts";
import { testStateFolder } from "../support/state.ts";

const bench = new URL("../../scripts/bench.ts", import.meta.url).pathname;

function named(checks: Check[], name: string): Check {
  const check = checks.find((one) => one.name === name);
  if (!check) throw new Error(`no check ${name} among ${checks.map((one) => one.name).join(", ")}`);
  return check;
}

/** A search path with nothing but these commands. */
async function pathWith(folder: string, commands: string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const command of commands) {
    const { stdout } = await execa("sh", ["-c", `command -v ${command}`]);
    await symlink(stdout, join(folder, command));
  }
  return folder;
}

test("on this machine every program of the embedded stack is found, and nothing is changed", async (t) => {
  const stateFolder = join(testStateFolder(), "never-made");
  const checks = await diagnose({ stateFolder });
  for (const name of [
    "node",
    "git",
    "tar",
    "C compiler",
    "user namespaces",
    "overlay mounts",
    "sandbox ids",
  ]) {
    t.is(named(checks, name).state, "ok", JSON.stringify(named(checks, name)));
  }
  t.regex(named(checks, "disk space").found, /GiB free/);
  t.true((await execa("test", ["!", "-e", stateFolder])).exitCode === 0);
});

test("without programs each is missing by name, with one apt-get line that brings it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "doctor-test-"));
  const environment = { PATH: await pathWith(join(folder, "bin"), ["git"]) };
  const checks = await diagnoseLocally({ stateFolder: folder, environment });
  t.like(named(checks, "git"), { state: "ok", remedy: null });
  t.like(named(checks, "slirp4netns"), { state: "missing", remedy: "apt-get install slirp4netns" });
  t.like(named(checks, "tar"), { state: "missing", found: "no tar, xz, zstd" });
  t.like(named(checks, "C compiler"), { state: "missing", packages: ["gcc", "libc6-dev"] });
  t.like(named(checks, "Temporal"), { state: "missing", remedy: "pnpm bench doctor --fix" });
  t.like(named(checks, "skopeo"), { state: "warning" });
  t.true(named(checks, "mmdebstrap").packages.includes("debian-archive-keyring"));
  await rm(folder, { recursive: true });
});

test("a compiler that cannot link statically is missing its library", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "doctor-test-"));
  await writeFile(join(folder, "cc"), "#!/bin/sh\necho cannot find -lc >&2\nexit 1\n");
  await chmod(join(folder, "cc"), 0o755);
  const checks = await diagnoseLocally({ stateFolder: folder, environment: { PATH: folder } });
  t.like(named(checks, "C compiler"), {
    state: "missing",
    found: "does not link statically: cannot find -lc",
  });
  await rm(folder, { recursive: true });
});

test("a given Temporal address makes the command needless", async (t) => {
  const about = {
    stateFolder: "/nowhere",
    environment: { PATH: "" },
    temporalAddress: "temporal.example:7233",
  };
  t.like(named(await diagnoseLocally(about), "Temporal"), { state: "ok" });
});

test("credentials in an index address are missing's reason, and are printed nowhere", async (t) => {
  const environment = { ...process.env, PIP_INDEX_URL: "http://someone:hunter2@127.0.0.1:1/simple/" };
  const checks = await diagnose({ stateFolder: testStateFolder(), environment });
  t.like(named(checks, "sandbox network"), { state: "missing" });
  t.like(named(checks, "package index"), { state: "warning" });
  t.false(JSON.stringify(checks).includes("hunter2"));
});

test("the text has each remedy under its check and no colour unless asked", (t) => {
  const checks: Check[] = [
    { name: "git", state: "ok", found: "/usr/bin/git", remedy: null, packages: [] },
    { name: "tar", state: "missing", found: "no tar", remedy: "apt-get install tar", packages: ["tar"] },
  ];
  const text = renderChecks(checks, false);
  t.is(
    text,
    "ok       git  /usr/bin/git\nMISSING  tar  no tar\n              → apt-get install tar\n\n" +
      "Missing: tar. Remedy: pnpm bench doctor --fix\n",
  );
  t.true(renderChecks(checks, true).includes("\u001b[31mMISSING\u001b[0m"));
});

test("only packages and the Temporal command are put right by themselves", async (t) => {
  const kernel: Check = {
    name: "user namespaces",
    state: "missing",
    found: "",
    remedy: "sysctl",
    packages: [],
  };
  t.false(isFixable(kernel));
  t.true(isFixable({ ...kernel, name: "Temporal" }));
  t.false(isFixable({ ...kernel, state: "warning", packages: ["skopeo"] }));
  const lines: string[] = [];
  await fix([kernel], { stateFolder: "/nowhere", progress: (line) => lines.push(line) });
  t.deepEqual(lines, []);
});

test("bench doctor prints JSON and says by its exit code whether something is missing", async (t) => {
  const result = await execa(process.execPath, [bench, "doctor", "--json", "--state", testStateFolder()], {
    reject: false,
    env: { NODE_NO_WARNINGS: "1" },
  });
  const checks = JSON.parse(result.stdout) as Check[];
  t.is(result.exitCode, checks.some((check) => check.state === "missing") ? 2 : 0);
});
