import { fileURLToPath } from "node:url";

/** The suites that come with the project. A new one is its file in `suites/` and its line here. */
export const SUITE_NAMES = [
  "envbench-100",
  "envbench-329",
  "envbench-jvm-665",
  "executionagent-50",
  "graph2env-200",
  "installamatic-40",
  "pypi-sdist",
  "pypi-smoke",
  "rat-java-50",
  "rat-node-50",
  "rat-rust-50",
  "repo2run-122",
  "repo2run-420",
] as const;

/** The file of a registered suite, or null when the name is not registered. */
export function registeredSuite(name: string): string | null {
  if (!(SUITE_NAMES as readonly string[]).includes(name)) return null;
  return fileURLToPath(new URL(`suites/${name}.json`, import.meta.url));
}
