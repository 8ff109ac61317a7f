import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { runningDaemon } from "../../scripts/stack/process.ts";
import { bench, essence, freshState, leftOvers, recordsOf, startBench } from "./bench.ts";

/** How often something is killed: a few in an ordinary run, as many as one likes by BENCH_TEST_KILLS. */
const KILLS = Number(process.env.BENCH_TEST_KILLS ?? 6);
const SEED = Number(process.env.BENCH_TEST_SEED ?? Date.now() % 100_000);

/** Fails when it runs a second time in the same sandbox; slow enough to be hit in the middle. */
const SCRIPT = `
set -e
echo ran >> /workspace/count
python3 -m venv /workspace/venv
/workspace/venv/bin/pip install -q . pytest
sleep 5
test "$(wc -l < /workspace/count)" = 1
`;

type Target = "cli" | "worker" | "temporal" | "all";
const TARGETS: readonly Target[] = ["cli", "worker", "temporal", "all"];

test("a sweep under kill -9 at random moments ends with the records of an undisturbed one", async (t) => {
  t.timeout(40 * 60_000);
  const { state, end } = await freshState();
  const script = join(state, "guarded.sh");
  await writeFile(script, SCRIPT);
  const line = [
    ...["--suite", "pypi-smoke", "--repos", "h11,markupsafe,pluggy,netaddr,itsdangerous,structlog"],
    ...["--system", "script,naive", "--script", script, "--parallel", "4"],
  ];
  try {
    const calm = await bench(state, [...line, "--id", "calm"]);
    t.is(calm.exitCode, 0, calm.all);
    await disturb(state, [...line, "--id", "disturbed"]);
    const [expected, found] = [await recordsOf(state, "calm"), await recordsOf(state, "disturbed")];
    t.log(`seed ${SEED}, ${KILLS} kills, attempts ${found.map((record) => record.attempt).join(" ")}`);
    t.deepEqual(found.map(essence), expected.map(essence));
    await bench(state, ["down"]);
    t.deepEqual(await leftOvers(state), []);
  } finally {
    await end();
  }
});

/** Runs the line, killing as it goes; whoever is dead is started again the way a user would. */
async function disturb(state: string, line: readonly string[]): Promise<void> {
  const random = generator(SEED);
  let cli = startBench(state, line);
  let ended = false;
  const watch = () =>
    cli.once("exit", (code) => {
      if (code === 0) ended = true;
    });
  watch();
  for (let kill = 0; kill < KILLS && !ended; kill++) {
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
