import { proxyActivities } from "@temporalio/workflow";
import type { HostActivities } from "./activities.ts";
import { onHost, STATIC_SECONDS } from "./policies.ts";
import { closeSandbox, openSandbox } from "./sandboxes.ts";
import type {
  ArtifactRef,
  AttemptKey,
  Budget,
  CollectionResult,
  ReplayResult,
  SandboxRef,
  StaticResult,
  TestResult,
} from "./types.ts";

export interface Verification {
  sandbox: SandboxRef | null;
  replay: ReplayResult | null;
  collection: CollectionResult | null;
  tests: TestResult | null;
  statics: StaticResult | null;
}

/**
 * Stages 2–5 of metrics.md: the artifact alone is replayed in a fresh sandbox, then tests are collected and run there
 * with the outside network cut. A failed replay still goes on: what it left may pass tests (metrics.md, ESSR).
 * Fills `found` as it goes, so that a failure half-way keeps what was measured.
 */
export async function verify(
  key: AttemptKey,
  host: string,
  artifact: ArtifactRef,
  budget: Budget,
  found: Verification,
  onStage: (stage: string) => void,
  language: string,
): Promise<void> {
  const { sandbox } = await openSandbox(key, host, "replay");
  found.sandbox = sandbox;
  try {
    onStage("replay");
    found.replay = await proxyActivities<HostActivities>(onHost(host, budget.replay)).replayArtifact({
      ...key,
      sandbox,
      artifact,
      seconds: budget.replay,
    });
    // Other languages than Python are judged by build success (RAT, metrics.md).
    if (language !== "python") return;
    onStage("collect");
    found.collection = await proxyActivities<HostActivities>(onHost(host, budget.collect)).collectTests({
      ...key,
      sandbox,
      budget,
    });
    // Before the tests run, since they may leave anything behind; and with the network, which pip check may want.
    onStage("static");
    found.statics = await proxyActivities<HostActivities>(onHost(host, STATIC_SECONDS)).checkStatically({
      ...key,
      sandbox,
    });
    if (found.collection.count === 0) return;
    onStage("tests");
    const tests = proxyActivities<HostActivities>(onHost(host, budget.tests * 2));
    found.tests = await tests.runTests({ ...key, sandbox, budget });
  } finally {
    await closeSandbox(host, sandbox);
  }
}
