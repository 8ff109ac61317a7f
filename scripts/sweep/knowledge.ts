import { resolve } from "node:path";
import { openBase, SEED } from "../../activities/knowledge/base.ts";
import type { ArmPlan, SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { SweepOptions } from "../cli/options.ts";

export interface ResolvedKnowledge {
  /** By the name that arms use. */
  locked: SweepPlan["lock"]["knowledge"];
  locations: SweepPlan["settings"]["knowledge"];
}

/** The bases that the arms name, as they are now; `made`: where those of a matrix are. Throws UsageError where one is not there, or may change meanwhile. */
export async function resolveKnowledge(
  { state, knowledgeLive }: Pick<SweepOptions, "state" | "knowledgeLive">,
  arms: readonly Pick<ArmPlan, "options">[],
  made: Readonly<Record<string, string>> = {},
): Promise<ResolvedKnowledge> {
  const names = arms.flatMap(({ options }) => (options.knowledge ? [String(options.knowledge)] : []));
  if (knowledgeLive && names.length === 0) {
    throw new UsageError(
      "--knowledge-live: no system here is given a knowledge base; leave it out, or add setupx",
    );
  }
  const resolved: ResolvedKnowledge = { locked: {}, locations: {} };
  for (const name of new Set(names)) {
    const location = made[name] ?? locationOf(name, state);
    const base = await openBase(location, { stateFolder: state });
    const { frozen, embedding } = await base.store.identity();
    await base.store.close();
    if (knowledgeLive && frozen !== null) {
      throw new UsageError(
        `--knowledge-live: ${name} is frozen and can't learn; make one of yours: bench knowledge import mine ${name}`,
      );
    }
    if (!knowledgeLive && frozen === null) {
      throw new UsageError(
        `--knowledge ${name}: is not frozen, so that it may change during the sweep; run: bench knowledge freeze ${name} (or say --knowledge-live)`,
      );
    }
    resolved.locked[name] = { digest: frozen, embedding };
    resolved.locations[name] = location;
  }
  return resolved;
}

function locationOf(name: string, state: string): string {
  if (name === SEED || /^https?:\/\//.test(name)) return name;
  return /\.(?:db|jsonl)$/.test(name) ? resolve(name) : resolve(state, "knowledge", `${name}.db`);
}
