import test from "ava";
import type { Capabilities } from "../../activities/sandbox/driver.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { checkCapabilities } from "../../scripts/sweep/capabilities.ts";

function check(snapshots: Capabilities["snapshots"], system: string): Promise<void> {
  const limits = { memory: "kernel", processes: "kernel", disk: "watched" } as const;
  const capabilities = async () => ({ snapshots, networkSwitch: true, userNamespaces: false, limits });
  const lock = { arms: [{ system }], tests_network: "off" } as unknown as SweepPlan["lock"];
  return checkCapabilities({ name: "docker", capabilities }, { lock });
}

test("a system that goes back to earlier states runs on layers and commits, and is refused where there are neither", async (t) => {
  await t.notThrowsAsync(check("layers", "setupx"));
  await t.notThrowsAsync(check("commit", "setupx"));
  await t.throwsAsync(check("rebuild", "setupx"), { instanceOf: UsageError, message: /goes back/ });
  await t.notThrowsAsync(check("rebuild", "naive"));
});
