import type { ReaperInput, ReaperReport } from "../../workflows/types.ts";
import { whileBeating } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { runningSweeps } from "./ask.ts";
import { reapOrphans } from "./reap.ts";

/**
 * One round of the reaper. Where nothing is left to watch (no sandbox, no running sweep) it also ends the schedule that
 * starts it: the next sweep makes a new one.
 */
export async function reapSandboxes(deps: Deps, input: ReaperInput): Promise<ReaperReport> {
  return whileBeating(async () => {
    const client = await deps.client();
    const { destroyed, left } = await reapOrphans(client, deps.server, deps.driver(input.plan));
    const over = left.length === 0 && (await runningSweeps(client)).length === 0;
    if (over) await client.schedule.getHandle(input.schedule).delete();
    return { destroyed: destroyed.length, left: left.length, over };
  });
}
