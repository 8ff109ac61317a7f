import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { dockerBase } from "../../activities/sandbox/docker/base.ts";
import { dockerDriver } from "../../activities/sandbox/docker/driver.ts";
import { dockerEngineForTests } from "../support/docker-engine.ts";
import { testStateFolder } from "../support/state.ts";
import { contract } from "./contract.ts";

const engine = await dockerEngineForTests();
const stateFolder = await mkdtemp(join(tmpdir(), "docker-rebuild-"));
const driver =
  engine === null ? null : dockerDriver({ stateFolder, host: "test", engine, snapshots: "rebuild" });
const capabilities = await driver?.capabilities();

test.after.always(() => rm(stateFolder, { recursive: true, force: true }));

if (engine === null || driver === null || capabilities === undefined) {
  test("the Docker driver is not tested: there is no engine", (t) => t.pass());
} else {
  contract({
    name: "docker, rebuild",
    driver: () => driver,
    base: () => dockerBase({ kind: "debian" }, { stateFolder: testStateFolder(), engine }),
    capabilities,
  });
}
