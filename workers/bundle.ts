import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";

/** All workflows as one bundle; takes 2–3 s, so once per process. */
export function bundleWorkflows(): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("../workflows/index.ts", import.meta.url)),
    logger: new DefaultLogger("WARN"),
  });
}
