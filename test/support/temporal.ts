import { rmSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ownIdentity, processIdentity } from "../../activities/store/process-identity.ts";
import {
  ensureTemporal,
  stopTemporal,
  type TemporalService,
  temporalStatus,
} from "../../scripts/stack/temporal.ts";
import { ensureTemporalBinary } from "../../scripts/stack/temporal-binary.ts";
import { testStateFolder } from "./state.ts";

let shared: Promise<TemporalService> | undefined;

/** One real Temporal server per test process, on an empty database; ended with the process. */
export function testTemporal(): Promise<TemporalService> {
  shared ??= start();
  return shared;
}

async function start(): Promise<TemporalService> {
  process.env.BENCH_TEMPORAL_CLI = await ensureTemporalBinary({ stateFolder: testStateFolder() });
  const folders = join(testStateFolder(), "temporal-of-tests");
  await mkdir(folders, { recursive: true });
  await clearLeftOver(folders);
  const own = ownIdentity();
  const stateFolder = join(folders, `${own.pid}-${own.start}`);
  const service = await ensureTemporal({ stateFolder });
  const pid = (await temporalStatus(stateFolder))?.pid;
  process.once("exit", () => {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    rmSync(stateFolder, { recursive: true, force: true });
  });
  return service;
}

/** Servers of test processes that were killed before they could end theirs. */
async function clearLeftOver(folders: string): Promise<void> {
  for (const name of await readdir(folders)) {
    const [pid, startTime] = name.split("-");
    if (processIdentity(Number(pid))?.start === startTime) continue;
    await stopTemporal({ stateFolder: join(folders, name), graceSeconds: 1 });
    await rm(join(folders, name), { recursive: true, force: true });
  }
}
