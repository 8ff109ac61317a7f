import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import test from "ava";
import { readCalls } from "../../activities/model/journal.ts";
import { spentSoFar } from "../../activities/model/ledger.ts";
import { spendingOf } from "../../activities/model/spending.ts";
import { GREEN, MODEL } from "./caller.ts";
import { modelServer } from "./server.ts";

/** How often the process is killed: a few in an ordinary run, as many as one likes by BENCH_TEST_KILLS. */
const KILLS = Number(process.env.BENCH_TEST_KILLS ?? 6);
const STEPS = KILLS * 4;

test("under kill -9 at random moments each call is answered once, and at most one per kill is asked twice", async (t) => {
  t.timeout(10 * 60_000);
  const server = await modelServer(() => ({ text: GREEN, afterMs: 60, pieceMs: 5 }));
  const stateFolder = await mkdtemp(join(tmpdir(), "setup-bench-kills-"));
  const folder = join(stateFolder, "sweep");
  await mkdir(folder);
  const file = fileURLToPath(new URL("stepper.ts", import.meta.url));
  const start = () =>
    spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", file, server.url, stateFolder, folder, String(STEPS)],
      {
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
  for (let kills = 0; ; ) {
    const child = start();
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const before = server.asked.length;
    // Its start takes long beside what it does: the clock begins with its first request.
    while (kills < KILLS && server.asked.length === before && child.exitCode === null) await sleep(5);
    if (kills++ < KILLS) {
      await sleep(Math.random() * 250);
      child.kill("SIGKILL");
    }
    if ((await ended) === 0) break;
  }
  const calls = await readCalls({ folder, sweep: "s", cell: "task--arm", attempt: 1 });
  const spent = spendingOf(calls, MODEL.price);
  t.is(calls.length, STEPS);
  // A kill may come after the intent and before the request.
  t.true(server.asked.length >= STEPS && server.asked.length <= STEPS + spent.unsettled_calls);
  t.true(spent.unsettled_calls <= KILLS);
  t.is(spent.tokens.colour?.output, STEPS * 20);
  // A line of the ledger that a kill cost was written at the next reading of its receipt.
  t.is((await spentSoFar(folder)).sweep.tokens, STEPS * 120);
  t.log(
    `${KILLS} kills, ${server.asked.length - STEPS} calls asked twice, ${spent.unsettled_calls} unsettled`,
  );
  await server.close();
  await rm(stateFolder, { recursive: true });
});
