import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import type { SandboxDriver, SandboxOwner } from "../../activities/sandbox/driver.ts";
import type { Stage } from "../../workflows/run.ts";

/**
 * Destroys the sandboxes whose owner is gone: its workflow is closed or unknown to the server, or it has moved on to a
 * later attempt. Age never decides, so that no live sandbox is swept.
 * @returns the ids of the destroyed sandboxes
 */
export async function reapOrphans(client: Client, driver: SandboxDriver): Promise<string[]> {
  const reaped: string[] = [];
  for (const { sandbox, owner } of await driver.list()) {
    if (await ownerLives(client, owner)) continue;
    await driver.destroy(sandbox);
    reaped.push(sandbox.id);
  }
  return reaped;
}

async function ownerLives(client: Client, owner: SandboxOwner): Promise<boolean> {
  const handle = client.workflow.getHandle(owner.workflow);
  try {
    const { status } = await handle.describe();
    if (status.name !== "RUNNING") return false;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
  try {
    return (await handle.query<Stage>("stage")).attempt <= owner.attempt;
  } catch {
    // No worker answers now: the owner is open, so its sandbox is kept.
    return true;
  }
}
