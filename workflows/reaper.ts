import { proxyActivities } from "@temporalio/workflow";
import type { HostActivities } from "./activities.ts";
import { onHost, REAP_SECONDS } from "./policies.ts";
import type { ReaperInput, ReaperReport } from "./types.ts";

/** Started by a schedule: destroys the sandboxes of one holder (a machine, a cluster) whose owner is gone. */
export async function reaper(input: ReaperInput): Promise<ReaperReport> {
  return proxyActivities<HostActivities>(onHost(input.host, REAP_SECONDS)).reapSandboxes(input);
}
