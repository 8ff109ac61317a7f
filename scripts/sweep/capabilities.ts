import { CausedError } from "../../activities/errors.ts";
import type { SandboxDriver } from "../../activities/sandbox/driver.ts";
import { sandboxSpec } from "../../activities/sandboxes.ts";
import { systemNamed } from "../../activities/systems/registry.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { Draft } from "./prepare.ts";

/** Throws UsageError when the driver refuses such sandboxes as the sweep's. */
export async function checkSandboxes(
  driver: SandboxDriver,
  { plan, folder }: Pick<Draft, "plan" | "folder">,
  server: string,
): Promise<void> {
  const any = {
    folder,
    sweep: plan.sweep,
    cell: "check",
    attempt: 1,
    purpose: "setup",
    generation: 1,
  } as const;
  await driver.check?.(sandboxSpec(server, plan, any));
}

/** Throws UsageError when the driver can't do what the sweep needs, so that nothing is spent on it. */
export async function checkCapabilities(
  driver: Pick<SandboxDriver, "name" | "capabilities">,
  { lock }: Pick<SweepPlan, "lock">,
): Promise<void> {
  const { networkSwitch, snapshots } = await capabilitiesOf(driver);
  const needy = lock.arms.find(({ system }) => systemNamed(system)?.needsLayers);
  if (needy !== undefined && snapshots === "rebuild") {
    throw new UsageError(
      `--system ${needy.system}: goes back to earlier states, which the sandboxes of --driver ${driver.name} can't do here; ` +
        "take another driver, or let sandboxes mount (see docs/drivers.md)",
    );
  }
  if (lock.tests_network === "off" && !networkSwitch) {
    throw new UsageError(
      `--tests-network off: the sandboxes of --driver ${driver.name} can't be cut off from the network here; ` +
        "say --tests-network on, or let sandboxes mount (see docs/settings.md)",
    );
  }
}

async function capabilitiesOf(driver: Pick<SandboxDriver, "name" | "capabilities">) {
  try {
    return await driver.capabilities();
  } catch (error) {
    if (!(error instanceof CausedError)) throw error;
    const [line] = error.message.split("\n", 1);
    throw new UsageError(`--driver ${driver.name}: ${line}`, { cause: error });
  }
}
