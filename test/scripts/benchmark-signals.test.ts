import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Connection } from "@temporalio/client";
import test from "ava";
import { temporalStatus } from "../../scripts/stack/temporal.ts";
import { ensureTemporalBinary } from "../../scripts/stack/temporal-binary.ts";
import { testStateFolder } from "../support/state.ts";

const BENCHMARK = fileURLToPath(new URL("../../scripts/benchmark/main.ts", import.meta.url));

const ARGS = [
  ...["--disable-warning=ExperimentalWarning", BENCHMARK],
  ...["--only", "scale", "--runs", "400", "--steps", "50"],
];

/** The benchmark's server, once workflows run on it. */
async function serverAtWork(folder: string): Promise<{ pid: number }> {
  for (;;) {
    const [name] = await readdir(folder);
    const status = name === undefined ? null : await temporalStatus(join(folder, name));
    if (status !== null && (await runsWorkflows(status.address))) return status;
    await sleep(200);
  }
}

async function runsWorkflows(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: "30 seconds" });
  try {
    const { count } = await connection.workflowService.countWorkflowExecutions({
      ...{ namespace: "default", query: "WorkflowType = 'run'" },
    });
    return Number(count) > 0;
  } finally {
    await connection.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const) {
  test.serial(
    `a benchmark that gets ${signal} ends its server, removes its folder and says nothing`,
    async (t) => {
      t.timeout(5 * 60_000);
      const folder = await mkdtemp(join(tmpdir(), "setup-bench-signals-"));
      const cli = await ensureTemporalBinary({ stateFolder: testStateFolder() });
      const child = spawn(process.execPath, ARGS, {
        env: { ...process.env, TMPDIR: folder, BENCH_TEMPORAL_CLI: cli },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      child.stderr.on("data", (chunk) => {
        said += chunk;
      });
      const ended = once(child, "exit");
      const { pid } = await serverAtWork(folder);
      child.kill(signal);
      t.deepEqual(await ended, [code, null]);
      t.false(isAlive(pid));
      t.deepEqual(await readdir(folder), []);
      t.regex(said, /^starting the embedded Temporal server on [\d.:]+\n$/);
      await rm(folder, { recursive: true });
    },
  );
}
