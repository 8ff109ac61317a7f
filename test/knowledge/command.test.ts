import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";

const run = promisify(execFile);
const BENCH = fileURLToPath(new URL("../../scripts/bench.ts", import.meta.url));
const FLAGS = ["--disable-warning=ExperimentalWarning", BENCH];

let folder: string;
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), "setup-bench-knowledge-command-"));
});
test.after.always(() => rm(folder, { recursive: true }));

const bench = (...args: string[]) =>
  run(process.execPath, [...FLAGS, "knowledge", ...args], {
    env: { PATH: process.env.PATH, BENCH_STATE: folder },
  });
const json = async (...args: string[]) => JSON.parse((await bench(...args, "--json")).stdout);
const refused = async (...args: string[]) => {
  const { code, stderr } = await bench(...args).then(
    () => ({ code: 0, stderr: "" }),
    (error: { code: number; stderr: string }) => error,
  );
  return `${code} ${stderr.trim()}`;
};

test.serial("the seed base answers a message from the standard input", async (t) => {
  const child = spawn(
    process.execPath,
    [...FLAGS, "knowledge", "search", "seed", "-", "--json", "--limit", "2"],
    {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env.PATH, BENCH_STATE: folder },
    },
  );
  const ended = once(child, "exit");
  child.stdin.end("Step 3\nfatal error: ffi.h: No such file or directory\ncompilation terminated.\n");
  const found = JSON.parse(await text(child.stdout));
  await ended;
  t.is(found[0].unit.id, "header-ffi");
  t.is(found.length, 2);
});

test.serial("a base is made, spoiled, compared, frozen and then left alone", async (t) => {
  t.true((await json("import", "mine", "seed")).imported >= 150);
  t.deepEqual(await json("diff", "seed", "mine"), []);
  const noisy = await json("noise", "mine", "noisy", "--count", "20", "--seed", "3");
  t.is(noisy.noise, 20);
  const added = await json("diff", "mine", "noisy");
  t.is(added.length, 20);
  t.true(
    added.every(
      ({ id, change }: { id: string; change: string }) => id.startsWith("noise-") && change === "added",
    ),
  );
  const stats = await json("stats", "noisy");
  t.is(stats.made.noise, 20);
  const { digest } = await json("freeze", "mine");
  t.regex(digest, /^[0-9a-f]{64}$/);
  t.is((await json("freeze", "mine")).digest, digest);
  t.is((await json("stats", "mine")).digest, digest);
  t.regex(await refused("import", "mine", "seed"), /^2 bench: .*is frozen \([0-9a-f]{12}\); export it/);
  t.regex(
    await refused("noise", "mine", "noisy", "--count", "5"),
    /^2 bench: .*is there already; name a new base/,
  );
});

test.serial("what is exported and imported elsewhere is the same base", async (t) => {
  const file = join(folder, "seed-copy.jsonl");
  await bench("export", "seed", "--out", file);
  await bench("import", "copy", file);
  const [seed, copy] = [await json("stats", "seed"), await json("stats", "copy")];
  t.is(copy.digest, seed.digest);
  await bench("export", "seed", "--published", "--out", file);
  const [line] = (await readFile(file, "utf8")).split("\n");
  t.deepEqual(Object.keys(JSON.parse(line ?? "")), ["id", "signals", "advice_nl", "atoms", "telemetry"]);
});

test.serial("doubles are merged, whether within a base or from another one", async (t) => {
  const { unit } = (await json("search", "seed", "fatal error: ffi.h: No such file or directory"))[0];
  const double = (id: string) => ({ ...unit, id, advice_nl: ["Also look for a wheel."] });
  const file = join(folder, "doubles.jsonl");
  await writeFile(
    file,
    `${[double("a-double"), double("z-double")].map((it) => JSON.stringify(it)).join("\n")}\n`,
  );
  await bench("import", "merging", "seed");
  const merged = await json("merge", "merging", file);
  t.deepEqual(
    merged.map(({ outcome, into }: { outcome: string; into: string }) => [outcome, into]),
    [
      ["merged", "header-ffi"],
      ["merged", "header-ffi"],
    ],
  );
  t.true((await json("show", "merging", "header-ffi")).advice_nl.includes("Also look for a wheel."));
  await bench("import", "doubles", file);
  t.is((await json("dedup", "doubles")).length, 1);
  t.is((await json("stats", "doubles")).units, 1);
});

test.serial("what learnt from a suite is named and left out of a search", async (t) => {
  const { unit } = (await json("search", "seed", "fatal error: ffi.h: No such file or directory"))[0];
  const repositories = [
    { name: "someone/cookiecutter", forkOf: "https://github.com/cookiecutter/cookiecutter" },
  ];
  const taught = { ...unit, id: "taught", provenance: { made: "distilled", repositories } };
  const file = join(folder, "taught.jsonl");
  await writeFile(file, `${JSON.stringify(taught)}\n`);
  const out = await json("leave-out", file, "envbench-100");
  t.deepEqual(out, { left: [{ unit: "taught", learnt_from: "cookiecutter/cookiecutter" }], unproven: [] });
  t.is((await json("search", file, "ffi.h: No such file or directory")).length, 1);
  t.deepEqual(await json("search", file, "ffi.h: No such file", "--leave-out", "envbench-100"), []);
});

test.serial("a wrong line is refused with what to do about it", async (t) => {
  t.regex(await refused("stats", "nobody"), /^2 bench: knowledge base nobody: not there; nearest: .*import/);
  t.regex(await refused("show", "seed", "gcc-abs"), /^2 bench: .*nearest: gcc-absent/);
  t.regex(await refused("noise", "seed", "new"), /^2 bench: knowledge noise: name either --total or --count/);
  t.regex(
    await refused("noise", "seed", "new", "--total", "3"),
    /^2 bench: --total 3: seed has \d+ units already/,
  );
  t.regex(await refused("stats", "../x"), /^2 bench: knowledge base \.\.\/x: must be/);
  t.regex(
    await refused("search", "seed", "x", "--profile", "mine"),
    /^2 bench: .*see: pnpm bench knowledge --help/,
  );
  t.regex(await refused("import", "b", "none.jsonl"), /^2 bench: none\.jsonl: can't be read \(ENOENT\)/);
  t.regex(
    await refused("import", "b", "seed", "--embedding", "x"),
    /^2 bench: embedding x: must be lexical or/,
  );
});
