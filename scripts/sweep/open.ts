import { dirname } from "node:path";
import type { Client } from "@temporalio/client";
import { workflowState } from "../../activities/reaper/ask.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { CommonOptions } from "../cli/options.ts";
import { ensureStack } from "../stack/stack.ts";
import type { TemporalService } from "../stack/temporal.ts";
import { connect } from "./client.ts";
import { existingPlan, sweepFolder } from "./folder.ts";
import { keyVariables } from "./models.ts";

export interface OpenedSweep {
  client: Client;
  service: TemporalService;
  plan: SweepPlan;
  folder: string;
}

/** The plan of a sweep that has a folder here. Throws UsageError when there is none. */
export async function planByName(
  options: CommonOptions,
  id: string,
): Promise<{ plan: SweepPlan; folder: string }> {
  const folder = sweepFolder(options, id);
  const plan = await existingPlan(folder);
  if (plan === null) {
    throw new UsageError(
      `no sweep ${id} in ${dirname(folder)}; list them with \`pnpm bench status\`, or name another --state`,
    );
  }
  return { plan, folder };
}

/** A sweep and a client to its server, whose stack is started if need be; `running` insists that it runs. */
export async function openSweepByName(
  options: CommonOptions,
  id: string,
  need: "running" | "any",
): Promise<OpenedSweep> {
  const { plan, folder } = await planByName(options, id);
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const keys = keyVariables(plan.settings.endpoints);
  const service = await ensureStack({ ...options, keys, tell });
  const client = await connect(service);
  if (need === "running" && (await workflowState(client, id)) !== "running") {
    throw new UsageError(`sweep ${id} does not run; go on with it by: pnpm bench resume ${id}`);
  }
  return { client, service, plan, folder };
}
