import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { exists } from "../../activities/store/exists.ts";
import { readReport, type Session } from "../../activities/verify/report.ts";
import type { Request } from "../../activities/verify/session.ts";
import { temporaryFolder } from "./temporary.ts";

/** A pytest release and the Pythons it was made for; on a later one it needs plain asserts. */
export interface Release {
  pytest: string;
  pythons: readonly string[];
}

export const RELEASES: readonly Release[] = [
  { pytest: "4.6.11", pythons: ["3.6", "3.7", "3.8", "3.9"] },
  { pytest: "5.4.3", pythons: ["3.8", "3.7", "3.9"] },
  { pytest: "6.2.5", pythons: ["3.9", "3.8", "3.10"] },
  { pytest: "7.4.4", pythons: ["3.11", "3.10", "3.12"] },
  { pytest: "8.4.2", pythons: ["3.12", "3.11", "3.13"] },
  { pytest: "9.0.2", pythons: ["3.13", "3.12", "3.11"] },
];

export interface Environment {
  python: string;
  variables: Record<string, string>;
}

const CACHE = join(tmpdir(), "setup-bench-test-venvs");
const RUNNER = join(import.meta.dirname, "../../activities/verify/pytest/bench_runner.py");

/** A virtual environment with this pytest (and more), made once per machine. */
export async function environment(release: Release, ...more: string[]): Promise<Environment> {
  const { executable, version, native } = await findPython(release);
  const name = [`py${version}`, `pytest${release.pytest}`, ...more].join("-");
  const home = join(CACHE, name);
  if (!(await exists(home))) {
    await mkdir(CACHE, { recursive: true });
    const draft = await mkdtemp(join(CACHE, "draft-"));
    await execa(executable, ["-m", "venv", draft]);
    const packages = [`pytest==${release.pytest}`, ...more];
    await execa(join(draft, "bin/python"), ["-m", "pip", "install", "-q", ...packages]);
    // Only `python` is used of it, which still works after a move.
    await rename(draft, home).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY") throw error;
      await rm(draft, { recursive: true });
    });
  }
  return {
    python: join(home, "bin/python"),
    variables: native ? {} : { PYTEST_ADDOPTS: "--assert=plain" },
  };
}

async function findPython(release: Release) {
  for (const version of release.pythons) {
    const found = await execa(
      `python${version}`,
      ["-c", "import sys, venv, ensurepip; print(sys.executable)"],
      {
        reject: false,
      },
    );
    if (found.exitCode === 0) return { executable: found.stdout.trim(), version, native: true };
  }
  const { stdout } = await execa("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
  return { executable: "python3", version: stdout.trim(), native: false };
}

/** A repository of these files in a new folder. */
export async function repository(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder("repo");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

export interface HostRun {
  session: Session;
  exit: number | undefined;
  log: string;
  /** The report file as it lies. */
  report: string;
}

/** Runs the runner with an environment of this machine, its streams in files as a sandbox has them. */
export async function runOnHost(
  environment: Environment,
  repo: string,
  request: Partial<Request>,
  variables: Record<string, string> = {},
): Promise<HostRun> {
  const folder = await temporaryFolder("report");
  const key = "5a".repeat(32);
  const stdin = { key, mode: "run", only: null, skip: [], limit: 30, ...request };
  const [stdout, stderr] = [join(folder, "stdout"), join(folder, "stderr")];
  const { exitCode } = await execa(
    "bash",
    ["-c", 'exec "$0" "$1" >"$2" 2>"$3"', environment.python, RUNNER, stdout, stderr],
    {
      cwd: repo,
      input: JSON.stringify(stdin),
      env: { ...environment.variables, ...variables },
      reject: false,
    },
  );
  const session = await readReport(createReadStream(stdout), key);
  const [report, log] = await Promise.all([readFile(stdout, "utf8"), readFile(stderr, "utf8")]);
  return { session, exit: exitCode, log, report };
}
