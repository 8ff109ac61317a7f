import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { prepareBase } from "../../activities/sandbox/base/prepare.ts";
import { fetchSource, openTar } from "../../activities/source/fetch.ts";
import { verifierMounts } from "../../activities/verify/mounts.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { detectHostNetworkSettings } from "../stack/host-network.ts";
import { undone } from "./undo.ts";

const REPOSITORIES = ["h11", "pluggy", "itsdangerous"];
const BENCH = fileURLToPath(new URL("../bench.ts", import.meta.url));

export interface ShellLoop {
  sweep_seconds: number;
  shell_seconds: number;
  ratio: number;
}

/**
 * The same work twice: a sweep of the oracle, one run at a time, and a plain shell loop that for each repository sets
 * up in one chroot, sets up again in a fresh one, and there collects, checks and tests. Root only.
 */
export function measureShellLoop(state: string): Promise<ShellLoop> {
  const stack = (verb: "up" | "down") => execa(process.execPath, [BENCH, verb, "--state", state]);
  const measure = async () => {
    await stack("up");
    return compare(state);
  };
  return undone(measure, () => stack("down"));
}

async function compare(state: string): Promise<ShellLoop> {
  await runSweep(state, "warm-up");
  const shell: number[] = [];
  const sweep: number[] = [];
  for (let round = 0; round < 2; round++) {
    shell.push(await shellSeconds(state));
    sweep.push(await timed(() => runSweep(state, `round-${round}`)));
  }
  const [best, plain] = [Math.min(...sweep), Math.min(...shell)];
  return { sweep_seconds: best, shell_seconds: plain, ratio: best / plain };
}

async function runSweep(state: string, name: string): Promise<void> {
  const id = `${name}-${process.pid}`;
  const args = [
    "--suite",
    "pypi-smoke",
    "--repos",
    REPOSITORIES.join(","),
    "--system",
    "oracle",
    "--parallel",
    "1",
  ];
  await execa(process.execPath, [BENCH, ...args, "--id", id, "--state", state, "--json"]);
}

async function shellSeconds(state: string): Promise<number> {
  const work = await mkdtemp(join(tmpdir(), "setup-bench-shell-"));
  const leave = new AbortController();
  const measure = async () => timed(await shellLoop(resolve(state), work, leave.signal));
  return undone(measure, async () => {
    leave.abort();
    // What is being killed may still write.
    await rm(work, { recursive: true, force: true, maxRetries: 10 });
  });
}

async function shellLoop(
  stateFolder: string,
  work: string,
  cancelSignal: AbortSignal,
): Promise<() => Promise<void>> {
  const base = await prepareBase({ kind: "debian" }, { stateFolder });
  const { suite } = await loadSuite("pypi-smoke");
  const tasks = suite.tasks.filter((task) => REPOSITORIES.includes(task.id));
  for (const task of tasks) {
    await mkdir(join(work, task.id), { recursive: true });
    const tar = await openTar(stateFolder, await fetchSource(task.source, { stateFolder }));
    await pipeline(tar, createWriteStream(join(work, task.id, "source.tar")));
    await writeFile(join(work, task.id, "setup.sh"), task.oracle?.script ?? "");
  }
  await writeFile(join(work, "loop.sh"), LOOP);
  const { environment, mounts } = detectHostNetworkSettings(process.env);
  const all = [...mounts, ...verifierMounts()].map(({ source, target }) => `${source}:${target}`);
  return async () => {
    const alone = ["--mount", "--pid", "--fork", "--kill-child"];
    await execa("unshare", [...alone, "bash", join(work, "loop.sh"), base.location, work, ...all], {
      env: {
        PATH: process.env.PATH,
        HOME: "/root",
        ...environment,
        REPOSITORIES: tasks.map((task) => task.id).join(" "),
      },
      extendEnv: false,
      stdio: ["ignore", "ignore", "inherit"],
      cancelSignal,
      // The only one that unshare does not withhold from what it runs.
      killSignal: "SIGKILL",
    });
  };
}

const LOOP = `
set -e
base=$1 work=$2; shift 2
enter() {
  mkdir -p "$work/$1/up" "$work/$1/wk" "$work/$1/root"
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/$1/up,workdir=$work/$1/wk,volatile" "$work/$1/root"
  root=$work/$1/root; shift
  mount -t proc proc "$root/proc"; mount --bind /dev "$root/dev"; cp /etc/resolv.conf "$root/etc/resolv.conf"
  for pair in "$@"; do
    source=\${pair%%:*} target=$root\${pair#*:}
    if [ -d "$source" ]; then mkdir -p "$target"; else mkdir -p "\${target%/*}"; touch "$target"; fi
    mount --bind "$source" "$target"
  done
  mkdir -p "$root/workspace/repo"
}
for name in $REPOSITORIES; do
  for stage in live replay; do
    enter "$name/$stage" "$@"
    tar -x -C "$root/workspace/repo" -f "$work/$name/source.tar"
    cp "$work/$name/setup.sh" "$root/workspace/setup.sh"
    chroot "$root" bash -c 'cd /workspace/repo && bash ../setup.sh'
  done
  chroot "$root" bash -c 'cd /workspace/repo && . /workspace/venv/bin/activate && pytest --collect-only -q
    /opt/bench/node /opt/bench/pyright/index.js --level error --outputjson --pythonpath /workspace/venv/bin/python >/dev/null || true
    pip check; pytest -q || true'
done
`;

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1_000;
}
