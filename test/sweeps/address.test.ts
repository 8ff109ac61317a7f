import { readdir } from "node:fs/promises";
import test from "ava";
import { ensureWorker } from "../../scripts/stack/worker-daemon.ts";
import { testTemporal } from "../support/temporal.ts";
import { bench, freshState } from "./bench.ts";

test("a server that this state folder's worker does not serve is refused before the sweep is written", async (t) => {
  const { address } = await testTemporal();
  const { state, end } = await freshState();
  try {
    // Another name of the same machine, so another address that answers.
    const served = address.replace("127.0.0.1", "localhost");
    await ensureWorker({ state, address: served, namespace: "default", server: "any" });
    const line = ["--suite", "pypi-smoke", "--repos", "h11", "--system", "nop", "--id", "refused"];
    const refused = await bench(state, [...line, "--address", address]);
    t.is(refused.exitCode, 2, refused.all);
    t.regex(refused.all, /the worker of .* serves localhost:\d+ \(namespace default\); stop it with/);
    t.false((await readdir(state)).includes("sweeps"));
  } finally {
    await end();
  }
});
