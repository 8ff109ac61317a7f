import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runningDaemon } from "../../scripts/stack/process.ts";
import { startBench } from "./bench.ts";

type Target = "cli" | "worker" | "temporal" | "all";
const TARGETS: readonly Target[] = ["cli", "worker", "temporal", "all"];

export interface Disturbance {
  kills: number;
  seed: number;
}

/** Runs the line, killing as it goes; whoever is dead is started again the way a user would. */
export async function disturb(
  state: string,
  line: readonly string[],
  { kills, seed }: Disturbance,
): Promise<void> {
  const random = generator(seed);
  let cli = startBench(state, line);
  let ended = false;
  const watch = () =>
    cli.once("exit", (code) => {
      if (code === 0) ended = true;
    });
  watch();
  for (let kill = 0; kill < kills && !ended; kill++) {
    await sleep(2_000 + random() * 10_000);
    const target = TARGETS[Math.floor(random() * TARGETS.length)] ?? "all";
    if (target === "worker" || target === "all") await killDaemon(join(state, "stack"), "worker");
    if (target === "temporal" || target === "all") await killDaemon(join(state, "temporal"), "temporal");
    if (target === "cli" || target === "all") cli.kill("SIGKILL");
    if (cli.killed && !ended) {
      cli = startBench(state, line);
      watch();
    }
  }
  while (!ended) {
    if (cli.exitCode !== null && cli.exitCode !== 0) throw new Error(`bench ended with ${cli.exitCode}`);
    await sleep(500);
  }
}

async function killDaemon(folder: string, name: string): Promise<void> {
  const identity = await runningDaemon(folder, name);
  if (identity !== null) process.kill(identity.pid, "SIGKILL");
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
