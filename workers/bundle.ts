import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  bundleWorkflowCode,
  DefaultLogger,
  type WorkflowBundle,
  type WorkflowBundleOption,
} from "@temporalio/worker";

/** Where an image of the worker brings the bundle along: it starts sooner, and runs no compiler. */
const BROUGHT = fileURLToPath(new URL("built/workflows.js", import.meta.url));

/** All workflows as one bundle: the one that was brought along, else made now. */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  return existsSync(BROUGHT) ? { codePath: BROUGHT } : bundleWorkflows();
}

/** Takes 2–3 s, so once per process. */
export function bundleWorkflows(): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("../workflows/index.ts", import.meta.url)),
    logger: new DefaultLogger("WARN"),
  });
}
