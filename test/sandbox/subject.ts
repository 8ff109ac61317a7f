import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type {
  Capabilities,
  ExecSpec,
  SandboxBase,
  SandboxDriver,
  SandboxSpec,
} from "../../activities/sandbox/driver.ts";
import { type Ended, runCommand } from "../../activities/sandbox/run-command.ts";
import type { SandboxRef } from "../../workflows/types.ts";

/** What the contract is run on. */
export interface Subject {
  name: string;
  driver: () => SandboxDriver;
  base: () => Promise<SandboxBase>;
  /** What the driver says it can do; tests of what it can't are left out. */
  capabilities: Capabilities;
}

export interface Ran {
  ended: Ended;
  id: string;
  stdout: string;
  stderr: string;
}

/** A sandbox with what most tests do to it. */
export interface Probe {
  ref: SandboxRef;
  driver: SandboxDriver;
  run(command: string, options?: Partial<ExecSpec>): Promise<Ran>;
  start(command: string, options?: Partial<ExecSpec>): Promise<string>;
  /** Standard output of a command that must succeed. */
  say(command: string, root?: string): Promise<string>;
}

export type Overrides = Partial<Omit<SandboxSpec, "limits">> & { limits?: Partial<SandboxSpec["limits"]> };

const LIMITS = {
  memoryBytes: 2 ** 30,
  processes: 2_000,
  diskBytes: 2 ** 31,
  cpus: 2,
  deadlineSeconds: 900,
};
const WHOLE = { head: 1 << 20, tail: 0 };

export async function specOf(
  subject: Pick<Subject, "base">,
  overrides: Overrides = {},
): Promise<SandboxSpec> {
  return {
    id: `test-${randomBytes(6).toString("hex")}`,
    owner: { server: "none", sweep: "contract", run: "run", attempt: 1, workflow: "contract/run" },
    base: await subject.base(),
    network: "off",
    environment: {},
    mounts: [],
    ...overrides,
    limits: { ...LIMITS, ...overrides.limits },
  };
}

/** Gives the test a sandbox of its own and destroys it afterwards, whatever happened. */
export async function withSandbox(
  subject: Subject,
  overrides: Overrides,
  use: (probe: Probe) => Promise<void>,
): Promise<void> {
  const driver = subject.driver();
  const spec = await specOf(subject, overrides);
  try {
    await use(probe(driver, await driver.create(spec)));
  } finally {
    await driver.destroy({ driver: driver.name, id: spec.id, host: "test" });
  }
}

export function probe(driver: SandboxDriver, ref: SandboxRef): Probe {
  const specFor = (command: string, options: Partial<ExecSpec>): ExecSpec => ({
    id: `exec-${randomBytes(6).toString("hex")}`,
    root: "main",
    command,
    cwd: "/",
    environment: {},
    seconds: 120,
    outputBytes: 1 << 20,
    stdin: null,
    ...options,
  });
  const run = async (command: string, options: Partial<ExecSpec> = {}): Promise<Ran> => {
    const exec = specFor(command, options);
    const ended = await runCommand(driver, ref, exec);
    const [out, err] = await Promise.all([
      driver.read(ref, exec.id, "stdout", WHOLE),
      driver.read(ref, exec.id, "stderr", WHOLE),
    ]);
    return { ended, id: exec.id, stdout: out.text, stderr: err.text };
  };
  return {
    ref,
    driver,
    run,
    async start(command, options = {}) {
      const exec = specFor(command, options);
      await driver.start(ref, exec);
      return exec.id;
    },
    async say(command, root = "main") {
      const { ended, stdout, stderr } = await run(command, { root });
      if (ended.exit !== 0) throw new Error(`${command}: ${ended.end} ${ended.exit}: ${stderr || stdout}`);
      return stdout.trim();
    },
  };
}

export async function bytes(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Waits until `check` gives something else than null, false or undefined. */
export async function eventually<T>(
  check: () => Promise<T | null | false | undefined>,
  seconds = 20,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await check();
    if (found !== null && found !== false && found !== undefined) return found;
    if (Date.now() > end) throw new Error(`not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** A folder and a file of this machine, as mounts of a sandbox. */
export async function withHostMounts(
  use: (mounts: { source: string; target: string }[], folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "contract-"));
  try {
    await writeFile(join(folder, "given"), "from the host");
    await chmod(folder, 0o755);
    const file = { source: join(folder, "given"), target: "/etc/one/file" };
    await use([{ source: folder, target: "/opt/given" }, file], folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
