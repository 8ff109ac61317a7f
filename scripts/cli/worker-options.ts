import { isIP } from "node:net";
import { type Command, InvalidArgumentError } from "commander";
import type { Listen } from "../../workers/health.ts";
import { ROLES, type Role } from "../../workers/roles.ts";
import { DEFAULT_TUNING } from "../../workers/tuning.ts";
import { type CommonOptions, option } from "./options.ts";
import { number, wholeNumber } from "./values.ts";

/** What `bench worker` takes besides the common options. */
export interface WorkerOptions extends CommonOptions {
  queues: Role[];
  activities: number;
  cachedWorkflows: number;
  grace: number;
  metrics?: Listen;
  health?: Listen;
}

export function addWorkerOptions(command: Command): Command {
  return command
    .addOption(
      option("--queues <names>", `task queues to serve, separated by commas, of ${ROLES.join(", ")}`)
        .argParser(roles)
        .default([...ROLES], ROLES.join(",")),
    )
    .addOption(
      option("--activities <n>", "activities in flight per queue")
        .argParser(wholeNumber(1, 10_000))
        .default(DEFAULT_TUNING.activities),
    )
    .addOption(
      option("--cached-workflows <n>", "workflows kept in memory between their tasks")
        .argParser(wholeNumber(1, 100_000))
        .default(DEFAULT_TUNING.cachedWorkflows),
    )
    .addOption(
      option("--grace <seconds>", "time that running activities get at a shutdown")
        .argParser(number(0, 3_600))
        .default(DEFAULT_TUNING.graceSeconds),
    )
    .addOption(option("--metrics <ip:port>", "serve /metrics for Prometheus there").argParser(listenAddress))
    .addOption(option("--health <ip:port>", "serve /livez and /readyz there").argParser(listenAddress));
}

function roles(text: string): Role[] {
  const names = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  const known = ROLES.filter((role) => names.includes(role));
  const unknown = names.filter((name) => !ROLES.some((role) => role === name));
  if (known.length > 0 && unknown.length === 0) return known;
  throw new InvalidArgumentError(`It must name one or more of ${ROLES.join(", ")}.`);
}

/** `127.0.0.1:8080`, `[::]:8080`; the address is needed, so that nothing is opened to a network by mistake. */
function listenAddress(text: string): Listen {
  const match = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text.trim());
  const [host, port] = [match?.[1] ?? match?.[2] ?? "", Number(match?.[3])];
  if (isIP(host) === 0 || !(port <= 65_535)) {
    throw new InvalidArgumentError("It must be IP:PORT, such as 127.0.0.1:8080 or 0.0.0.0:8080.");
  }
  return { host, port };
}
