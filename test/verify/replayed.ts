import { join } from "node:path";
import { Readable } from "node:stream";
import tar from "tar-stream";
import type { SandboxDriver, SandboxSpec } from "../../activities/sandbox/driver.ts";
import { localDriver } from "../../activities/sandbox/local/driver.ts";
import { runCommand } from "../../activities/sandbox/run-command.ts";
import { fileBlobStore } from "../../activities/store/blobs.ts";
import { REPOSITORY, type VerifyContext } from "../../activities/verify/context.ts";
import { verifierMounts } from "../../activities/verify/mounts.ts";
import { detectHostNetworkSettings } from "../../scripts/stack/host-network.ts";
import type { SandboxRef } from "../../workflows/types.ts";
import { testBase } from "../support/base.ts";
import { testStateFolder } from "../support/state.ts";
import { temporaryFolder } from "./temporary.ts";

/** A real local sandbox with the verifier's tools; each repository gets a fork of its own. */
export interface Replayed {
  driver: SandboxDriver;
  sandbox: SandboxRef;
  /** A root with these files as its repository, and what verification of it needs. */
  repository(files: Record<string, string>): Promise<VerifyContext>;
  /** Runs a command in a root; throws unless it exits 0. Returns its output. */
  run(root: string, command: string): Promise<string>;
}

const GIGABYTE = 1 << 30;

export async function replayed(name: string, spec: Partial<SandboxSpec> = {}): Promise<Replayed> {
  const driver = localDriver({ stateFolder: testStateFolder(), host: "test" });
  const { environment, mounts } = detectHostNetworkSettings(process.env);
  const id = `verify-${name}-${process.pid}`;
  const sandbox = await driver.create({
    id,
    owner: { server: "none", sweep: "test", run: id, attempt: 1, workflow: id },
    base: await testBase(),
    limits: {
      memoryBytes: 2 * GIGABYTE,
      processes: 512,
      diskBytes: 4 * GIGABYTE,
      cpus: 2,
      deadlineSeconds: 1_800,
    },
    network: "on",
    environment,
    mounts: [...mounts, ...verifierMounts()],
    ...spec,
  });
  let count = 0;
  const run = async (root: string, command: string) => {
    count += 1;
    const exec = { id: `test-${count}`, root, command, cwd: "/", environment: {}, seconds: 300 };
    const ended = await runCommand(driver, sandbox, { ...exec, outputBytes: 1 << 20, stdin: null });
    const [out, err] = await Promise.all([
      driver.read(sandbox, exec.id, "stdout", { head: 65_536, tail: 0 }),
      driver.read(sandbox, exec.id, "stderr", { head: 0, tail: 2_048 }),
    ]);
    if (ended.exit !== 0) throw new Error(`${command}: ${ended.end} ${ended.exit}: ${err.text}`);
    return out.text;
  };
  let forks = 0;
  return {
    driver,
    sandbox,
    run,
    async repository(files) {
      forks += 1;
      const root = `repo-${forks}`;
      await driver.fork(sandbox, "main", root);
      const pack = tar.pack();
      for (const [file, content] of Object.entries(files)) pack.entry({ name: file }, content);
      pack.finalize();
      await driver.put(sandbox, root, REPOSITORY, Readable.from(pack));
      const folder = await temporaryFolder("run");
      const blobs = fileBlobStore(join(folder, "blobs"));
      return { driver, sandbox, root, blobs, folder, prefix: `verify-${root}`, interpreter: null, watch: {} };
    },
  };
}
