import { nearest } from "./nearest.ts";
import type { Suite, Task } from "./schema.ts";
import { UsageError } from "./usage-error.ts";

export interface Selected {
  /** Task ids, or what follows their slash; case does not matter. */
  repos?: readonly string[] | undefined;
  tier?: string | undefined;
  /** At most this many, from the start. */
  limit?: number | undefined;
}

/**
 * The tasks that pass all filters, in the suite's order; never none.
 * Throws `UsageError` for a repository or tier that the suite does not have, and for a selection that is empty.
 */
export function selectTasks(suite: Suite, { repos, tier, limit }: Selected): Task[] {
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
    throw new UsageError(`limit ${limit}: must be a whole number of at least 1`);
  }
  const wanted = repos && new Set(repos.map((name) => findTask(suite, name)));
  if (wanted?.size === 0)
    throw new UsageError("no repository named; name at least one, or leave the filter out");
  const tasks = suite.tasks
    .filter((task) => wanted === undefined || wanted.has(task))
    .filter((task) => tier === undefined || task.tier === tier);
  if (tasks.length === 0) throw new UsageError(emptyTier(suite, tier, wanted !== undefined));
  return tasks.slice(0, limit);
}

function findTask(suite: Suite, name: string): Task {
  const wanted = name.toLowerCase();
  const exact = suite.tasks.find((task) => task.id.toLowerCase() === wanted);
  if (exact) return exact;
  const short = suite.tasks.filter((task) => task.id.toLowerCase().split("/")[1] === wanted);
  const [first] = short;
  if (first === undefined) {
    const ids = suite.tasks.map((task) => task.id);
    throw new UsageError(
      `unknown repository ${name} in suite ${suite.suite}; nearest: ${nearest(name, ids).join(", ")}`,
    );
  }
  if (short.length > 1) {
    const ids = short.map((task) => task.id).join(", ");
    throw new UsageError(`repository ${name} is ambiguous in suite ${suite.suite}: write one of ${ids}`);
  }
  return first;
}

function emptyTier(suite: Suite, tier: string | undefined, filtered: boolean): string {
  const tiers = [...new Set(suite.tasks.map((task) => task.tier))].filter((name) => name !== null);
  if (tiers.length === 0) return `suite ${suite.suite} has no tiers; leave the tier ${tier} out`;
  const has = tiers.includes(tier as never);
  if (filtered && has) return `none of the repositories named has the tier ${tier} in suite ${suite.suite}`;
  return `suite ${suite.suite} has no task of tier ${tier}; it has ${tiers.join(", ")}`;
}
