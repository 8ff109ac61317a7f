import type { Command } from "commander";
import { nearest } from "../../benchmarks/nearest.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { commandsOf } from "./commands-of.ts";

/** Variables that are no flag's; docs/settings.md says what they are for, k8s/README.md of the test cluster's. */
const WITHOUT_FLAG = [
  "BENCH_CA_BUNDLE",
  "BENCH_CONFIG",
  "BENCH_DEBUG",
  "BENCH_TEMPORAL_API_KEY",
  "BENCH_TEMPORAL_CLI",
  "BENCH_TEMPORAL_TLS",
  "BENCH_TESTCLUSTER",
];

/** What the project's tests read. */
const OF_TESTS = "BENCH_TEST_";

/** What Kubernetes gives its pods for a service whose name begins with `bench`. */
const OF_A_SERVICE =
  /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** Throws UsageError for a BENCH_* variable that nothing reads: one that is misspelt would do nothing, silently. */
export function refuseUnknownVariables(program: Command, environment: NodeJS.ProcessEnv): void {
  const flags = commandsOf(program).flatMap(({ options }) => options);
  const known = new Set([...WITHOUT_FLAG, ...flags.flatMap(({ envVar }) => envVar ?? [])]);
  const inPod = environment.KUBERNETES_SERVICE_HOST !== undefined;
  for (const name of Object.keys(environment)) {
    if (!name.startsWith("BENCH_") || name.startsWith(OF_TESTS) || known.has(name)) continue;
    if (inPod && OF_A_SERVICE.test(name)) continue;
    throw new UsageError(
      `${name}: unknown variable; nearest: ${nearest(name, [...known], 1).join()}; correct or unset it`,
    );
  }
}
