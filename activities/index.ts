import type { GeneralActivities, HostActivities } from "../workflows/activities.ts";
import { withCauses } from "./caused.ts";
import { claimHost } from "./claim-host.ts";
import { decide } from "./decide.ts";
import type { Deps } from "./deps.ts";
import { publishRecord } from "./publish.ts";
import { reapSandboxes } from "./reaper/activity.ts";
import { closeSandbox, discardSandbox, openSandbox } from "./sandboxes.ts";
import { act } from "./setup/act.ts";
import { freezeArtifact } from "./setup/artifact.ts";
import { rebuildSandbox } from "./setup/rebuild.ts";
import { nextCells, refuseCell, writeResults } from "./sweep-cells.ts";
import { checkStatically, collectTests, replayArtifact, runTests } from "./verification.ts";

/** `holdsSandboxes`: this process also serves its machine's queue of host activities. */
export function generalActivities(deps: Deps, holdsSandboxes: boolean): GeneralActivities {
  return withCauses<GeneralActivities>({
    claimHost: (key) => claimHost(deps, key, holdsSandboxes),
    decide: (input) => decide(deps, input),
    nextCells,
    refuseCell,
    writeResults,
    publishRecord,
  });
}

export function hostActivities(deps: Deps): HostActivities {
  return withCauses<HostActivities>({
    openSandbox: (input) => openSandbox(deps, input),
    closeSandbox: (input) => closeSandbox(deps, input),
    rebuildSandbox: (input) => rebuildSandbox(deps, input),
    discardSandbox: (input) => discardSandbox(deps, input),
    reapSandboxes: (input) => reapSandboxes(deps, input),
    act: (input) => act(deps, input),
    freezeArtifact: (key) => freezeArtifact(deps, key),
    replayArtifact: (input) => replayArtifact(deps, input),
    collectTests: (input) => collectTests(deps, input),
    runTests: (input) => runTests(deps, input),
    checkStatically: (input) => checkStatically(deps, input),
  });
}
