import test from "ava";
import { dockerEngineForTests } from "../support/docker-engine.ts";
import { freshState, leftOvers } from "./bench.ts";
import { sameSweep } from "./same-records.ts";

const engine = await dockerEngineForTests();

(engine === null ? test.skip : test.serial)(
  "a sweep in containers leaves the records of a local one",
  async (t) => {
    t.timeout(20 * 60_000);
    const { state, end } = await freshState();
    try {
      const { local, other, drivers } = await sameSweep(state, [
        "--driver",
        "docker",
        "--docker-host",
        engine ?? "",
      ]);
      t.deepEqual(drivers, ["docker"]);
      t.is(local.length, 4);
      t.deepEqual(other, local);
    } finally {
      await end();
    }
    t.deepEqual(await leftOvers(state), []);
  },
);
