import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { workerStatus } from "../../scripts/stack/stack.ts";
import { testTemporal } from "../support/temporal.ts";
import { bench } from "../sweeps/bench.ts";

test("with workers elsewhere none is started here, and their absence is told", async (t) => {
  const state = await mkdtemp(join(tmpdir(), "setup-bench-elsewhere-"));
  const { address } = await testTemporal();
  try {
    const { exitCode, stderr } = await bench(state, ["gc", "--workers", "elsewhere", "--address", address]);
    t.is(exitCode, 0, stderr);
    t.regex(stderr, /^no worker serves the task queue bench of \S+ \(namespace default\) now; cells wait/m);
    t.is(await workerStatus(state), null);
  } finally {
    await rm(state, { recursive: true, force: true });
  }
});

test("workers elsewhere need the address of the server that they serve", async (t) => {
  const state = await mkdtemp(join(tmpdir(), "setup-bench-elsewhere-"));
  try {
    const { exitCode, stderr } = await bench(state, ["gc", "--workers", "elsewhere"]);
    t.is(exitCode, 2);
    t.regex(stderr, /^bench: --workers elsewhere: needs the Temporal server .* --address$/m);
  } finally {
    await rm(state, { recursive: true, force: true });
  }
});
