import type { SweepPlan } from "../benchmarks/sweep-plan.ts";
import type { ExecSpec } from "./sandbox/driver.ts";
import { REPOSITORY } from "./verify/context.ts";

/**
 * A command of the system's, or the artifact that holds them all: a replay must find what the commands found when they
 * ran one by one. `seconds` is its time limit.
 */
export function agentCommand(plan: SweepPlan, id: string, command: string, seconds: number): ExecSpec {
  const { outputBytes } = plan.lock.limits;
  return {
    ...{ id, command, seconds, outputBytes },
    ...{ root: "main", cwd: REPOSITORY, environment: {}, stdin: null },
  };
}
