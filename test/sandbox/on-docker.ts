import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { dockerBase } from "../../activities/sandbox/docker/base.ts";
import { dockerDriver } from "../../activities/sandbox/docker/driver.ts";
import type { DockerOptions } from "../../activities/sandbox/docker/engine.ts";
import { dockerEngineForTests } from "../support/docker-engine.ts";
import { testStateFolder } from "../support/state.ts";
import { contract } from "./contract.ts";

/** Registers the contract's tests on a Docker engine; one skipped test where there is none. */
export async function contractOnDocker(
  name: string,
  options: Pick<DockerOptions, "snapshots"> = {},
): Promise<void> {
  const engine = await dockerEngineForTests();
  if (engine === null) return test.skip(`${name}: there is no engine`, () => {});
  const stateFolder = await mkdtemp(join(tmpdir(), "docker-driver-"));
  const driver = dockerDriver({ stateFolder, host: "test", engine, ...options });
  const capabilities = await driver.capabilities();
  // From here on nothing waits: AVA takes no more tests once it has waited after the first one.
  test.after.always(() => rm(stateFolder, { recursive: true, force: true }));
  contract({
    name,
    driver: () => driver,
    base: () => dockerBase({ kind: "debian" }, { stateFolder: testStateFolder(), engine }),
    capabilities,
  });
}
