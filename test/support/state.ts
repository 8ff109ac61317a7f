import { tmpdir } from "node:os";
import { join } from "node:path";

/** What tests share on a machine (base root file systems, tools): BENCH_TEST_STATE, else a folder under the OS temp one. */
export function testStateFolder(): string {
  return process.env.BENCH_TEST_STATE || join(tmpdir(), "setup-bench-test-state");
}
