import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import type { ExecSpec } from "../sandbox/driver.ts";
import { REPOSITORY } from "../verify/context.ts";
import type { Values } from "./values.ts";

/**
 * A command of the system's, or the artifact that holds them all: a replay must find what the commands found when they
 * ran one by one. `seconds` is its time limit.
 */
export function agentCommand(
  plan: SweepPlan,
  id: string,
  command: string,
  seconds: number,
  { root = "main", values }: { root?: string; values?: Values } = {},
): ExecSpec {
  const { outputBytes } = plan.lock.limits;
  const umask = values?.umask ?? null;
  return {
    ...{ id, seconds, outputBytes, root },
    command: umask === null ? command : `umask ${umask}\n${command}`,
    ...{ cwd: REPOSITORY, environment: values?.environment ?? {}, stdin: null },
  };
}
