import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { execa } from "execa";

const BENCH = join(fileURLToPath(new URL("../..", import.meta.url)), "scripts", "bench.ts");

test("a long output comes whole through a pipe that is read late, and a reader may leave early", async (t) => {
  const line = `"${process.execPath}" --disable-warning=ExperimentalWarning "${BENCH}" suites show envbench-jvm-665 --json`;
  const shell = async (script: string) => execa("bash", ["-o", "pipefail", "-c", script], { reject: false });
  const late = await shell(`${line} | (sleep 2; cat)`);
  t.true(late.stdout.length > 100_000);
  t.notThrows(() => JSON.parse(late.stdout));
  const early = await shell(`${line} | head -c 10`);
  t.deepEqual([early.exitCode, early.stderr], [0, ""]);
});
