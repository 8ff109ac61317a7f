import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { localCapabilities } from "../../activities/sandbox/local/capabilities.ts";
import { localDriver } from "../../activities/sandbox/local/driver.ts";
import { idMap } from "../../activities/sandbox/local/id-map.ts";
import { testBase } from "../support/base.ts";
import { contract } from "./contract.ts";

const stateFolder = await mkdtemp(join(tmpdir(), "local-driver-"));
test.after.always(() => rm(stateFolder, { recursive: true, force: true }));

contract({
  name: "local",
  driver: () => localDriver({ stateFolder, host: "test" }),
  base: testBase,
  capabilities: localCapabilities(idMap()),
});
