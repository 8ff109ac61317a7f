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
import type { Subject } from "./subject.ts";

/** Registers the contract's tests (or those of `register`) on a Docker engine; one skipped test where there is none. */
export async function contractOnDocker(
  name: string,
  options: Pick<DockerOptions, "snapshots"> = {},
  register: (subject: Subject) => void = contract,
): Promise<void> {
  const engine = await dockerEngineForTests();
  if (engine === null) return test.skip(`${name}: there is no engine`, () => {});
  const stateFolder = await mkdtemp(join(tmpdir(), "docker-driver-"));
  const driver = dockerDriver({ stateFolder, host: "test", engine, ...options });
  const capabilities = await driver.capabilities();
  // From here on nothing waits: AVA takes no more tests once it has waited after the first one.
  test.after.always(() => rm(stateFolder, { recursive: true, force: true }));
  register({
    name,
    driver: () => driver,
    base: () => dockerBase({ kind: "debian" }, { stateFolder: testStateFolder(), engine }),
    capabilities,
  });
}
