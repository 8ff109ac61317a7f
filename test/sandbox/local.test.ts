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

/** A folder prepared for the ids of this user, where the default base can't be made. */
const given = process.env.BENCH_TEST_BASE;

contract({
  name: "local",
  driver: () => localDriver({ stateFolder, host: "test" }),
  base: given ? async () => ({ digest: "given", location: given }) : testBase,
  capabilities: localCapabilities(idMap()),
});
