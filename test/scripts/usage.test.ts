import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { execa } from "execa";
import { scratchFolder } from "../support/scratch.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BENCH = join(ROOT, "scripts", "bench.ts");

async function bench(args: string[], env: Record<string, string> = {}) {
  const cwd = await scratchFolder("setup-bench-cli-");
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", BENCH, ...args],
    { cwd, env, reject: false },
  );
  return { cwd, exitCode, stdout, stderr };
}

const REFUSED: [name: string, args: string[], said: RegExp][] = [
  ["no suite", [], /no suite given/],
  ["an unknown suite", ["--suite", "pypi-smok"], /unknown suite pypi-smok; nearest: pypi-smoke/],
  ["a suite file that is not there", ["--suite", "./none.json"], /none\.json/],
  [
    "a live base that no system is given",
    ["--suite", "pypi-smoke", "--system", "nop", "--knowledge-live"],
    /--knowledge-live: no system here/,
  ],
  [
    "an option that no system takes",
    ["--suite", "pypi-smoke", "--system", "nop", "--xpu", "on"],
    /--xpu: none of nop takes it/,
  ],
  [
    "an unknown system",
    ["--suite", "pypi-smoke", "--system", "orcale"],
    /--system orcale: unknown; there are oracle/,
  ],
  [
    "an unknown repository",
    ["--suite", "pypi-smoke", "--repos", "h12"],
    /unknown repository h12 .* nearest: h11/,
  ],
  [
    "oracle on a suite without recipes",
    ["--suite", "envbench-100"],
    /has no recipe for .*leave oracle out: --system nop,naive/,
  ],
  ["a script without its system", ["--suite", "pypi-smoke", "--script", "x"], /go together/],
  ["a system script without its script", ["--suite", "pypi-smoke", "--system", "script"], /go together/],
  [
    "a script that is not there, even when nothing is to be run",
    ["--suite", "pypi-smoke", "--system", "script", "--script", "none.sh", "--dry-run"],
    /^bench: --script none\.sh: can't be read \(ENOENT\)/,
  ],
  [
    "a folder of scripts that has none for the repositories",
    ["--suite", "pypi-smoke", "--system", "script", "--script", ".", "--dry-run"],
    /--script \.: no <task>\.sh for any selected repository/,
  ],
  [
    "a server that does not answer",
    ["--suite", "pypi-smoke", "--system", "nop", "--address", "127.0.0.1:1"],
    /Temporal at 127\.0\.0\.1:1 .* can't be used.*correct --address/,
  ],
  ["a size that is none", ["--suite", "pypi-smoke", "--memory", "much"], /size such as 512M/],
  ["a count that is none", ["--suite", "pypi-smoke", "--parallel", "0"], /from 1 to 500/],
  [
    "an unknown flag",
    ["--suite", "pypi-smoke", "--paralel", "2"],
    /unknown option '--paralel'; nearest: --parallel; see: pnpm bench --help/,
  ],
  ["a mirror that is no regular expression", ["--suite", "pypi-smoke", "--mirror", "(=x"], /mirror/i],
  ["a memory that no sandbox can run in", ["--suite", "pypi-smoke", "--memory", "1K"], /from 16M to/],
  ["a time without end", ["--suite", "pypi-smoke", "--wall", "1e300"], /from 1 to 604800/],
  ["an id that leads elsewhere", ["--suite", "pypi-smoke", "--id", "../x"], /sweep id "\.\.\/x": must be/],
  [
    "a folder that holds something else",
    ["--suite", "pypi-smoke", "--system", "nop", "--out", "/etc"],
    /\/etc: holds .* and no sweep; name a new or empty folder/,
  ],
  [
    "an index with a password",
    ["--suite", "pypi-smoke", "--index", "https://me:secret@host/simple"],
    /^bench: --index: .*password/,
  ],
  [
    "a mirror with a password",
    ["--suite", "pypi-smoke", "--mirror", "^x=https://me:secret@host/"],
    /^bench: --mirror: .*password/,
  ],
  ["a sweep that is not there", ["report", "nothing"], /no sweep nothing in /],
  ["a run that is named wrongly", ["inspect", "only-a-sweep"], /SWEEP\/CELL/],
  ["an unknown verb", ["sweep"], /unknown verb sweep; nearest: .*; see: pnpm bench --help/],
  [
    "a flag that the verb does not take",
    ["--parallel", "4", "status"],
    /--parallel: status does not take it/,
  ],
  [
    "a verb without what it needs",
    ["inspect"],
    /missing required argument 'run'; see: pnpm bench inspect --help/,
  ],
];

for (const [name, args, said] of REFUSED) {
  test(`${name} is refused in one line with exit code 2, and nothing is made`, async (t) => {
    const { cwd, exitCode, stderr, stdout } = await bench(args);
    t.is(exitCode, 2, stderr);
    t.regex(stderr, said);
    t.is(stdout, "");
    t.regex(stderr, /^bench: .+$/);
    t.deepEqual(
      (await readdir(cwd, { recursive: true })).filter((name) => name !== ".bench"),
      [],
    );
  });
}

test("a configuration file gives defaults, a variable goes before it, and a flag before both", async (t) => {
  const folder = await scratchFolder("setup-bench-config-");
  const file = join(folder, "config.yaml");
  await writeFile(file, "suite: pypi-smoke\nrepos: [h11, pluggy]\nsystem: [nop]\nparallel: 3\njson: true\n");
  const plan = async (args: string[], env: Record<string, string>) =>
    JSON.parse((await bench(["--dry-run", ...args], { BENCH_CONFIG: file, ...env })).stdout);
  t.like(await plan([], {}), { suite: "pypi-smoke", cells: 2, parallel: 3 });
  t.like(await plan([], { BENCH_PARALLEL: "4" }), { cells: 2, parallel: 4 });
  t.like(await plan(["--parallel", "5", "--repos", "h11"], { BENCH_PARALLEL: "4" }), {
    cells: 1,
    parallel: 5,
  });
});

test("a flag before the verb counts as one behind it", async (t) => {
  t.regex((await bench(["--json", "systems"])).stdout, /^\[/);
  t.regex((await bench(["--state", "elsewhere", "report", "x"])).stderr, /no sweep x in .*elsewhere\/sweeps/);
  t.regex(
    (await bench(["--state", "a", "report", "x", "--state", "b"])).stderr,
    /no sweep x in .*\/b\/sweeps/,
  );
});

test("a switch's variable says yes or no, goes before the file, and a flag before it", async (t) => {
  const folder = await scratchFolder("setup-bench-config-");
  const file = join(folder, "config.yaml");
  await writeFile(file, "json: true\n");
  const isJson = async (args: string[], env: Record<string, string>) =>
    (await bench(["systems", ...args], env)).stdout.startsWith("[");
  t.true(await isJson([], { BENCH_JSON: "1" }));
  t.false(await isJson([], { BENCH_JSON: "false" }));
  t.true(await isJson([], { BENCH_CONFIG: file }));
  t.false(await isJson([], { BENCH_CONFIG: file, BENCH_JSON: "0" }));
  t.true(await isJson(["--json"], { BENCH_JSON: "no" }));
  const { exitCode, stderr } = await bench(["systems"], { BENCH_JSON: "perhaps" });
  t.is(exitCode, 2);
  t.is(stderr, 'bench: BENCH_JSON: must be true or false, not "perhaps"');
});

test("a misspelt variable is refused with the name that is nearest", async (t) => {
  const { exitCode, stderr } = await bench(["systems"], { BENCH_PARALEL: "4" });
  t.is(exitCode, 2);
  t.is(stderr, "bench: BENCH_PARALEL: unknown variable; nearest: BENCH_PARALLEL; correct or unset it");
  const service = { BENCH_WEB_PORT: "tcp://10.0.0.1:80", BENCH_WEB_PORT_80_TCP_ADDR: "10.0.0.1" };
  t.is((await bench(["systems"], { ...service, KUBERNETES_SERVICE_HOST: "10.0.0.1" })).exitCode, 0);
  t.is((await bench(["systems"], service)).exitCode, 2);
});

test("every variable that the code reads or a document names is known", async (t) => {
  const kinds = ["ts", "md", "yaml"].map((kind) => `--include=*.${kind}`);
  const rest = [".git", ".bench", "node_modules", "test"].map((folder) => `--exclude-dir=${folder}`);
  const { stdout } = await execa("grep", ["-rhoE", "\\bBENCH_[A-Z][A-Z_]*[A-Z]\\b", ...kinds, ...rest, ROOT]);
  const names = [...new Set(stdout.split("\n"))];
  t.true(names.includes("BENCH_TEMPORAL_TLS"));
  const variables = Object.fromEntries(names.map((name) => [name, "x"]));
  const { stderr } = await bench(["systems"], { ...variables, KUBERNETES_SERVICE_HOST: "10.0.0.1" });
  t.notRegex(stderr, /unknown variable/);
});

test("a configuration file with an unknown key or a wrong value is refused by name", async (t) => {
  const folder = await scratchFolder("setup-bench-config-");
  const file = join(folder, "config.yaml");
  for (const [content, said] of [
    ["paralel: 3\n", /config\.yaml: unknown key "paralel"/],
    ["parallel: many\n", /config\.yaml: parallel: .*whole number/],
    ["tier: huge\n", /config\.yaml: tier must be one of low, medium, high/],
    ["- 1\n", /config\.yaml: must hold keys and values/],
    ["a: [\n", /config\.yaml: /],
  ] as const) {
    await writeFile(file, content);
    const { exitCode, stderr } = await bench(["--suite", "pypi-smoke"], { BENCH_CONFIG: file });
    t.is(exitCode, 2, content);
    t.regex(stderr, said);
  }
});

test("a dry run lists the cells and their needs and makes no folder", async (t) => {
  const { exitCode, stdout, stderr } = await bench([
    "--suite",
    "pypi-smoke",
    "--tier",
    "high",
    "--system",
    "oracle,nop",
    "--dry-run",
  ]);
  t.is(exitCode, 0, stderr);
  t.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[0]),
    ["cell", "marshmallow--oracle", "marshmallow--nop", "flask--oracle", "flask--nop"],
  );
  t.regex(stderr, /4 cells of pypi-smoke/);
});

test("suites and systems are listed as tab-separated lines and as JSON", async (t) => {
  const text = await bench(["suites"]);
  t.regex(text.stdout, /^suite\trepositories\t/);
  t.regex(text.stdout, /\nenvbench-329\t329\tpython\t/);
  const suites = JSON.parse((await bench(["suites", "--json"])).stdout);
  t.is(suites.length, 13);
  const shown = await bench(["suites", "show", "pypi-smoke"]);
  t.regex(shown.stdout, /\nh11\tpython\tlow\tNetwork\t0\.16\.0\tids\tyes/);
  const systems = JSON.parse((await bench(["systems", "--json"])).stdout);
  const names = systems.map((one: { system: string }) => one.system);
  for (const name of ["oracle", "nop", "naive", "pipreqs", "script"]) t.true(names.includes(name), name);
});

test("every verb's help has an example", async (t) => {
  const verbs = [...(await bench(["--help"])).stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(
    ([, verb]) => verb,
  );
  t.is(verbs.length, 17);
  for (const verb of verbs) {
    const { exitCode, stdout } = await bench([String(verb), "--help"]);
    t.is(exitCode, 0);
    t.regex(stdout, new RegExp(`\nExample:\n  pnpm bench ${verb}`));
  }
});

test("help texts have examples and end with exit code 0", async (t) => {
  const { exitCode, stdout } = await bench(["--help"]);
  t.is(exitCode, 0);
  t.regex(stdout, /pnpm bench --suite pypi-smoke/);
  t.regex(stdout, /Exit code: 0 all cells graded/);
});
