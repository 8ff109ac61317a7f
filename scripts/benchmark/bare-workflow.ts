import { proxyActivities } from "@temporalio/workflow";

interface BareActivities {
  first(): Promise<void>;
  second(): Promise<void>;
}

const { first, second } = proxyActivities<BareActivities>({
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "15 seconds",
});

/** The least that any durable two-activity step costs. */
export async function bare(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await first();
    await second();
  }
}
