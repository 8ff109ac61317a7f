import { proxyActivities } from "@temporalio/workflow";
import type { HostActivities } from "./activities.ts";
import { onHost, STATIC_SECONDS } from "./policies.ts";
import { type Sandboxes, withSandbox } from "./sandboxes.ts";
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

/** What is verified, and how long it may take. */
export interface Subject {
  key: AttemptKey;
  language: string;
  artifact: ArtifactRef;
  budget: Budget;
}

export function nothingFound(): Verification {
  return { sandbox: null, replay: null, collection: null, tests: null, statics: null };
}

/**
 * Stages 2–5 of metrics.md: the artifact alone is replayed in a fresh sandbox, then tests are collected and run there
 * with the outside network cut. A failed replay still goes on: what it left may pass tests (metrics.md, ESSR).
 * Fills `found` as it goes, so that a failure half-way keeps what was measured; a lost sandbox begins it anew.
 */
export function verify(
  subject: Subject,
  sandboxes: Sandboxes,
  found: Verification,
  onStage: (stage: string) => void,
): Promise<void> {
  return withSandbox(
    sandboxes,
    "replay",
    async () => undefined,
    (live) =>
      live.use((sandbox) => {
        Object.assign(found, nothingFound(), { sandbox });
        return judge(subject, sandboxes.host, sandbox, found, onStage);
      }),
  );
}

async function judge(
  { key, language, artifact, budget }: Subject,
  host: string,
  sandbox: SandboxRef,
  found: Verification,
  onStage: (stage: string) => void,
): Promise<void> {
  const within = (seconds: number) => proxyActivities<HostActivities>(onHost(host, seconds));
  onStage("replay");
  const replaying = { ...key, sandbox, artifact, seconds: budget.replay };
  found.replay = await within(budget.replay).replayArtifact(replaying);
  // Other languages than Python are judged by build success (RAT, metrics.md).
  if (language !== "python") return;
  onStage("collect");
  found.collection = await within(budget.collect).collectTests({ ...key, sandbox, budget });
  // Before the tests run, since they may leave anything behind; and with the network, which pip check may want.
  onStage("static");
  found.statics = await within(STATIC_SECONDS).checkStatically({ ...key, sandbox });
  if (found.collection.count === 0) return;
  onStage("tests");
  found.tests = await within(budget.tests * 2).runTests({ ...key, sandbox, budget });
}
