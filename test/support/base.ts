import { prepareBase } from "../../activities/sandbox/base/prepare.ts";
import type { SandboxBase } from "../../activities/sandbox/driver.ts";
import { testStateFolder } from "./state.ts";

let prepared: Promise<SandboxBase> | undefined;

/** The default base, made once per machine and then found in the tests' shared state folder. */
export function testBase(): Promise<SandboxBase> {
  prepared ??= prepareBase({ kind: "debian" }, { stateFolder: testStateFolder() });
  return prepared;
}
