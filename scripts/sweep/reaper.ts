import { createHash } from "node:crypto";
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from "@temporalio/client";
import { GENERAL_QUEUE, KUBERNETES_HOST } from "../../workflows/policies.ts";
import type { DriverPlan, ReaperInput } from "../../workflows/types.ts";

/** How long a sandbox may outlive its owner, give or take. */
const EVERY = "5 minutes";

/** Sees to it that what runs leave behind is destroyed also when no `bench` looks. One schedule per holder of sandboxes. */
export async function ensureReaper(
  client: Client,
  { lock, settings }: DriverPlan,
  host: string,
): Promise<void> {
  const holder = lock.driver === "kubernetes" ? KUBERNETES_HOST : host;
  const { driver, pods } = lock;
  const { engine, cluster, base_location } = settings;
  const plan: ReaperInput["plan"] = { lock: { driver, pods }, settings: { engine, cluster, base_location } };
  const digest = createHash("sha256")
    .update(JSON.stringify([holder, driver, pods, engine, cluster]))
    .digest("hex");
  const schedule = `reaper-${driver}-${digest.slice(0, 16)}`;
  try {
    await client.schedule.create({
      scheduleId: schedule,
      spec: { intervals: [{ every: EVERY }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: "1 minute" },
      action: {
        type: "startWorkflow",
        workflowType: "reaper",
        taskQueue: GENERAL_QUEUE,
        args: [{ schedule, host: holder, plan } satisfies ReaperInput],
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
