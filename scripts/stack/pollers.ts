import { Connection } from "@temporalio/client";
import type { TemporalService } from "./temporal.ts";

/** TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW of Temporal's API. */
const WORKFLOW = 1;

/** How many workers asked for the queue's workflow tasks within the last minutes. */
export async function pollersOf(
  { connection: options, namespace }: Pick<TemporalService, "connection" | "namespace">,
  queue: string,
): Promise<number> {
  const connection = await Connection.connect(options);
  try {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      taskQueueType: WORKFLOW,
    });
    return pollers?.length ?? 0;
  } finally {
    await connection.close();
  }
}
