import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { prepareBase } from "../../activities/sandbox/base/prepare.ts";
import { localDriver } from "../../activities/sandbox/local/driver.ts";
import type { SandboxRef } from "../../workflows/types.ts";
import { median, mustRun, timed } from "./timing.ts";
import { undone } from "./undo.ts";

/** A layer as a set-up leaves it: 4,000 files, 200 MB. */
const FILL =
  "mkdir -p /srv/layer && cd /srv/layer && for i in $(seq 4000); do head -c 51200 /dev/urandom > f$i; done";
const ROUNDS = 10;

export interface Frames {
  push_ms: number;
  pop_ms: number;
  fork_ms: number;
  /** Null where no Docker engine runs. */
  docker_commit_ms: number | null;
  docker_run_ms: number | null;
  push_ratio: number | null;
  pop_ratio: number | null;
}

/** Medians of push, pop and fork on a filled sandbox, against `docker commit` and a container from its image. */
export async function measureFrames(state: string): Promise<Frames> {
  const own = await framesOfLocalDriver(state);
  const docker = await dockerTimes(state);
  return {
    ...own,
    docker_commit_ms: docker?.commit ?? null,
    docker_run_ms: docker?.run ?? null,
    push_ratio: docker && docker.commit / own.push_ms,
    pop_ratio: docker && docker.run / own.pop_ms,
  };
}

async function framesOfLocalDriver(state: string): Promise<Pick<Frames, "push_ms" | "pop_ms" | "fork_ms">> {
  const base = await prepareBase({ kind: "debian" }, { stateFolder: resolve(state) });
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-frames-"));
  const driver = localDriver({ stateFolder, host: "benchmark" });
  const sandbox: SandboxRef = { driver: driver.name, id: "frames", host: "benchmark" };
  const measure = async () => {
    await driver.create({
      id: sandbox.id,
      owner: { server: "none", sweep: "benchmark", run: "frames", attempt: 1, workflow: "benchmark" },
      base,
      limits: { memoryBytes: 2 ** 31, processes: 500, diskBytes: 2 ** 33, cpus: 2, deadlineSeconds: 600 },
      network: "off",
      environment: {},
      mounts: [],
    });
    await mustRun(driver, sandbox, "fill", FILL);
    const push: number[] = [];
    const pop: number[] = [];
    const fork: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      push.push(await timed(() => driver.push(sandbox, "main", `frame-${round}`)));
      await mustRun(driver, sandbox, `change-${round}`, "rm -r /srv/layer/f1*; echo new > /srv/layer/new");
      pop.push(await timed(() => driver.pop(sandbox, "main", `frame-${round}`)));
      fork.push(await timed(() => driver.fork(sandbox, "main", `fork-${round}`)));
      await driver.drop(sandbox, `fork-${round}`);
    }
    return { push_ms: median(push), pop_ms: median(pop), fork_ms: median(fork) };
  };
  return undone(measure, async () => {
    await driver.destroy(sandbox);
    await rm(stateFolder, { recursive: true, force: true });
  });
}

async function dockerTimes(state: string): Promise<{ commit: number; run: number } | null> {
  const docker = (args: string[], options = {}) => execa("docker", args, { reject: false, ...options });
  if ((await docker(["info"])).exitCode !== 0) return null;
  const base = await prepareBase({ kind: "debian" }, { stateFolder: resolve(state) });
  const image = "setup-bench-benchmark";
  await execa("bash", ["-c", `tar -c -C ${base.location} . | docker import - ${image}:base`]);
  const name = `${image}-frames`;
  const measure = async () => {
    await execa("docker", ["run", "-d", "--name", name, `${image}:base`, "sleep", "infinity"]);
    await execa("docker", ["exec", name, "bash", "-c", FILL]);
    const commit: number[] = [];
    const run: number[] = [];
    for (let round = 0; round < 3; round++) {
      commit.push(await timed(() => execa("docker", ["commit", name, `${image}:${round}`])));
      run.push(
        await timed(() =>
          execa("docker", ["run", "-d", "--name", `${name}-${round}`, `${image}:${round}`, "sleep", "60"]),
        ),
      );
    }
    return { commit: median(commit), run: median(run) };
  };
  return undone(measure, async () => {
    await docker(["rm", "-f", name, ...[0, 1, 2].map((round) => `${name}-${round}`)]);
    await docker(["rmi", "-f", ...["base", 0, 1, 2].map((tag) => `${image}:${tag}`)]);
  });
}
