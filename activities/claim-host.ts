import { ApplicationFailure } from "@temporalio/activity";
import { KUBERNETES_HOST } from "../workflows/policies.ts";
import type { AttemptKey } from "../workflows/types.ts";
import { openAttempt } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { claimAttempt } from "./store/sweep-folder.ts";

/**
 * Names the host that will hold the attempt's sandboxes: this machine, or the cluster that any worker reaches.
 * A worker that serves no host's queue (`holdsSandboxes` false) leaves local and docker attempts to another one's try.
 */
export async function claimHost(
  deps: Pick<Deps, "host">,
  key: AttemptKey,
  holdsSandboxes: boolean,
): Promise<{ host: string }> {
  const { plan } = await openAttempt(key);
  const { driver } = plan.lock;
  if (driver !== "kubernetes" && !holdsSandboxes) {
    throw ApplicationFailure.create({
      type: "capacity",
      message: `no worker that holds ${driver} sandboxes has taken the attempt; start one with: bench worker --queues general,host`,
    });
  }
  await claimAttempt(key);
  return { host: driver === "kubernetes" ? KUBERNETES_HOST : deps.host };
}
