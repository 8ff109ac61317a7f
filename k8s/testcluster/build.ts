import { createHash } from "node:crypto";
import { appendFile, copyFile, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { arch } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { exists } from "../../activities/store/exists.ts";
import { withLock } from "../../activities/store/lock.ts";
import { cacheFolder } from "./folders.ts";
import { ensurePackages } from "./packages.ts";

/** Folders of programs, each made from its sources once per machine and user. */
export interface Binaries {
  /** The one program of all Kubernetes components and etcd. */
  hyperkube: string;
  /** Folder of containerd, its shim, ctr and runc. */
  runtime: string;
  /** The process that holds a pod's namespaces, linked statically. */
  pause: string;
}

export interface Part {
  name: string;
  /** What the digest is of, besides the processor. */
  sources: () => Promise<Buffer[]>;
  build: (target: string, run: Run) => Promise<void>;
}

type Run = (
  command: string,
  args: string[],
  options: { cwd: string; env?: Record<string, string> },
) => Promise<void>;

const HYPERKUBE = fileURLToPath(new URL("hyperkube", import.meta.url));
const PAUSE = fileURLToPath(new URL("pause.c", import.meta.url));
const KUBERNETES = "v1.34.4";
/** User namespaces for pods need containerd 2 and runc 1.2, newer than what distributions in use ship. */
const CONTAINERD = "v2.2.9";
const RUNC = "v1.3.7";

/**
 * Builds what the cache lacks; a first build takes ten to fifteen minutes on two cores, at low priority. Whoever asks at
 * once waits for one build. Throws with the log's last lines when a build fails.
 */
export async function ensureBinaries(progress: (line: string) => void): Promise<Binaries> {
  await ensurePackages(progress);
  await mkdir(cacheFolder(), { recursive: true });
  const pause = await ensurePart({ name: "pause", sources: pauseSources, build: buildPause }, progress);
  const hyperkube = await ensurePart(
    { name: "hyperkube", sources: hyperkubeSources, build: buildHyperkube },
    progress,
  );
  const runtime = await ensurePart(
    { name: "runtime", sources: runtimeSources, build: buildRuntime },
    progress,
  );
  return { hyperkube: join(hyperkube, "hyperkube"), runtime, pause: join(pause, "pause") };
}

export async function ensurePart(part: Part, progress: (line: string) => void): Promise<string> {
  const digest = createHash("sha256").update(arch());
  for (const source of await part.sources()) digest.update(source).update("\0");
  const name = `${part.name}-${digest.digest("hex").slice(0, 16)}`;
  const folder = join(cacheFolder(), name);
  if (await exists(folder)) return folder;
  const waiting = (pids: number[]) =>
    progress(`process ${pids.join(", ")} builds ${part.name}; waiting for it`);
  await withLock(
    join(cacheFolder(), "locks", name),
    async () => {
      if (!(await exists(folder))) await buildPart(part, folder, progress);
    },
    { waiting },
  );
  return folder;
}

async function buildPart(part: Part, folder: string, progress: (line: string) => void): Promise<void> {
  const log = `${folder}.log`;
  progress(`building ${part.name}; log: ${log}`);
  await rm(log, { force: true });
  const target = `${folder}.partial`;
  await rm(target, { recursive: true, force: true });
  await mkdir(target);
  try {
    await part.build(target, (command, args, options) => runLogged(log, command, args, options));
    await rename(target, folder);
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  }
}

async function runLogged(
  log: string,
  command: string,
  args: string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<void> {
  await appendFile(log, `+ ${command} ${args.join(" ")}\n`);
  const result = await execa("nice", ["-n", "10", command, ...args], {
    ...options,
    stdin: "ignore",
    stdout: { file: log, append: true },
    stderr: { file: log, append: true },
    reject: false,
  });
  if (!result.failed) return;
  const tail = (await readFile(log, "utf8")).trim().split("\n").slice(-25).join("\n");
  throw new Error(`${command} failed (${result.exitCode ?? result.signal}); the end of ${log}:\n${tail}`);
}

async function hyperkubeSources(): Promise<Buffer[]> {
  const entries = await readdir(HYPERKUBE, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all([Buffer.from(KUBERNETES), ...files.sort().map((file) => readFile(file))]);
}

async function buildHyperkube(target: string, run: Run): Promise<void> {
  const version = "k8s.io/component-base/version";
  const [major, minor] = KUBERNETES.slice(1).split(".");
  const values = {
    gitVersion: KUBERNETES,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: "clean",
    gitCommit: "unknown",
    buildDate: "1970-01-01T00:00:00Z",
  };
  const flags = Object.entries(values).map(([key, value]) => `-X ${version}.${key}=${value}`);
  await run(
    "go",
    ["build", "-trimpath", "-buildvcs=false", "-ldflags", `-s -w ${flags.join(" ")}`, "-o", target, "."],
    { cwd: HYPERKUBE, env: { CGO_ENABLED: "0", GOFLAGS: "-mod=readonly" } },
  );
}

async function runtimeSources(): Promise<Buffer[]> {
  return [Buffer.from(CONTAINERD), Buffer.from(RUNC)];
}

async function buildRuntime(target: string, run: Run): Promise<void> {
  const containerd = "github.com/containerd/containerd/v2";
  const commands = ["containerd", "containerd-shim-runc-v2", "ctr"].map(
    (name) => `${containerd}/cmd/${name}@${CONTAINERD}`,
  );
  const tags = "no_btrfs,no_devmapper,no_zfs";
  const flags = `-s -w -X ${containerd}/version.Version=${CONTAINERD}`;
  const env = { GOBIN: target, GOFLAGS: "-buildvcs=false" };
  await run("go", ["install", "-trimpath", "-tags", tags, "-ldflags", flags, ...commands], {
    cwd: target,
    env: { ...env, CGO_ENABLED: "0" },
  });
  // The part of runc that enters namespaces is C.
  const runc = ["-tags", "seccomp", "-ldflags", `-s -w -X main.version=${RUNC.slice(1)}`];
  await run("go", ["install", "-trimpath", ...runc, `github.com/opencontainers/runc@${RUNC}`], {
    cwd: target,
    env: { ...env, CGO_ENABLED: "1" },
  });
}

async function pauseSources(): Promise<Buffer[]> {
  return [await readFile(PAUSE)];
}

async function buildPause(target: string, run: Run): Promise<void> {
  await copyFile(PAUSE, join(target, "pause.c"));
  await run("cc", ["-Os", "-static", "-s", "-o", "pause", "pause.c"], { cwd: target });
}
