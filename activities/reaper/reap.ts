import type { Client } from "@temporalio/client";
import type { SandboxDriver, SandboxOwner } from "../sandbox/driver.ts";
import { stageOf, workflowState } from "./ask.ts";

export interface Reaped {
  /** Ids of the sandboxes that were destroyed. */
  destroyed: string[];
  /** Ids of those that were not, and why. */
  left: { sandbox: string; why: string }[];
}

/**
 * Destroys the sandboxes whose owner is gone: its workflow is closed or unknown to the server, or it has moved on to a
 * later attempt. Age never decides, so that no live sandbox is swept; nor are those touched whose owner another server
 * knows. What a sweep that has ended keeps besides its sandboxes goes as well. `server` is the name of the one that `client` is connected to.
 */
export async function reapOrphans(
  client: Client,
  server: string,
  driver: Pick<SandboxDriver, "list" | "destroy" | "sweeps" | "release">,
): Promise<Reaped> {
  const reaped: Reaped = { destroyed: [], left: [] };
  for (const { sandbox, owner } of await driver.list()) {
    const why = await lifeOf(client, server, owner);
    if (why === null) {
      await driver.destroy(sandbox);
      reaped.destroyed.push(sandbox.id);
    } else reaped.left.push({ sandbox: sandbox.id, why });
  }
  for (const sweep of (await driver.sweeps?.()) ?? []) {
    if ((await workflowState(client, sweep)) !== "running") await driver.release?.(sweep);
  }
  return reaped;
}

/** Why the sandbox has to stay, or null when it has no owner any more. */
async function lifeOf(client: Client, server: string, owner: SandboxOwner): Promise<string | null> {
  const { workflow } = owner;
  if (owner.server !== server) {
    return `its run ${workflow} belongs to another Temporal server or namespace; name that with --address and --namespace`;
  }
  if ((await workflowState(client, workflow)) !== "running") return null;
  const stage = await stageOf(client, workflow);
  if (stage === null) return `its run ${workflow} is open, and no worker says where it is`;
  return stage.attempt > owner.attempt ? null : `its run ${workflow} is at work`;
}
