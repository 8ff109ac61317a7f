import type { Task } from "../../benchmarks/schema.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { onceEach } from "../once.ts";
import { type Base, openBase } from "./base.ts";
import { leaveOut, measuredOf } from "./leave-out.ts";

/** A base as the runs of a sweep see it. */
export interface OpenKnowledge {
  base: Base;
  /** Ids of units that learnt from one of the sweep's repositories: they are never shown. */
  excluded: ReadonlySet<string>;
  /** Whether runs teach it; else nothing of it changes during the sweep. */
  live: boolean;
}

/** Bases stay open as long as the process: reading and indexing one takes seconds when it is large. */
const bases = onceEach(async (key: string) => {
  const { location, stateFolder } = JSON.parse(key) as { location: string; stateFolder: string };
  return openBase(location, { stateFolder });
});

/** Opens a base that the plan names. Throws UsageError when it is no longer the one that the sweep was started with. */
export async function openKnowledge(
  { lock, settings }: Pick<SweepPlan, "lock" | "settings">,
  tasks: readonly Task[],
  name: string,
  stateFolder: string,
): Promise<OpenKnowledge> {
  const [locked, location] = [lock.knowledge[name], settings.knowledge[name]];
  if (locked === undefined || location === undefined)
    throw new Error(`no knowledge base ${name} in the plan`);
  const base = await bases(JSON.stringify({ location, stateFolder }));
  const { frozen, embedding } = await base.store.identity();
  if (embedding !== locked.embedding || (locked.digest !== null && frozen !== locked.digest)) {
    const is = `${frozen ?? "not frozen"}, ${embedding}`;
    throw new UsageError(
      `knowledge base ${name} (${location}): is ${is} and was ${locked.digest ?? "live"}, ${locked.embedding}; bring that one back, or start a new sweep`,
    );
  }
  return { base, excluded: await excludedOf(base, tasks), live: locked.digest === null };
}

/** By base and tasks; found anew when units have changed. */
const found = new WeakMap<Base, { of: string; excluded: ReadonlySet<string> }>();

async function excludedOf(base: Base, tasks: readonly Task[]): Promise<ReadonlySet<string>> {
  const of = JSON.stringify([await base.store.revision(), tasks.map(({ id }) => id)]);
  const known = found.get(base);
  if (known?.of === of) return known.excluded;
  const { left } = leaveOut(await base.store.all(), tasks.map(measuredOf));
  const excluded = new Set(left.keys());
  found.set(base, { of, excluded });
  return excluded;
}
