import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { ensureTemporalBinary } from "../temporal-binary.ts";
import { type Check, TEMPORAL } from "./check.ts";

export interface FixOptions {
  stateFolder: string;
  progress: (line: string) => void;
}

export function isFixable(check: Check): boolean {
  return check.state === "missing" && (check.packages.length > 0 || check.name === TEMPORAL);
}

/**
 * Puts right what can be put right without a person: packages (as root on Debian and its kin, by one apt-get) and the
 * Temporal CLI. Throws with the command to run by hand where it may not or cannot.
 */
export async function fix(checks: readonly Check[], options: FixOptions): Promise<void> {
  const missing = checks.filter((check) => check.state === "missing");
  const packages = [...new Set(missing.flatMap((check) => check.packages))].sort();
  if (packages.length > 0) await installPackages(packages, options);
  if (missing.some((check) => check.name === TEMPORAL)) await ensureTemporalBinary(options);
}

async function installPackages(packages: string[], options: FixOptions): Promise<void> {
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  const line = `apt-get ${install.join(" ")}`;
  if (!(await isDebianLike()))
    throw new UsageError(`doctor --fix knows Debian and Ubuntu only. Remedy: install ${packages.join(", ")}`);
  if (process.getuid?.() !== 0) throw new UsageError(`doctor --fix needs root here. Remedy: sudo ${line}`);
  await aptGet(["update"], options);
  await aptGet(install, options);
}

async function aptGet(args: string[], options: FixOptions): Promise<void> {
  options.progress(`apt-get ${args.join(" ")}`);
  const quiet = ["--quiet", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=120"];
  // Who asks at once waits: not all of apt's locks can be waited for.
  const lock = join(tmpdir(), "setup-bench-apt.lock");
  const result = await execa("flock", [lock, "apt-get", ...quiet, ...args], {
    env: { DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
    reject: false,
    all: true,
  });
  if (!result.failed) return;
  const said = (result.all || result.shortMessage || "").trim().split("\n").slice(-5).join(" · ");
  throw new Error(`apt-get ${args.join(" ")} failed: ${said}`);
}

async function isDebianLike(): Promise<boolean> {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(await readFile("/etc/os-release", "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
