import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { bench, essence, freshState, leftOvers, recordsOf } from "./bench.ts";
import { disturb } from "./disturb.ts";

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
    await disturb(state, [...line, "--id", "disturbed"], { kills: KILLS, seed: SEED });
    const [expected, found] = [await recordsOf(state, "calm"), await recordsOf(state, "disturbed")];
    t.log(`seed ${SEED}, ${KILLS} kills, attempts ${found.map((record) => record.attempt).join(" ")}`);
    t.deepEqual(found.map(essence), expected.map(essence));
    await bench(state, ["down"]);
    t.deepEqual(await leftOvers(state), []);
  } finally {
    await end();
  }
});
