import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Everything of one cluster: BENCH_TESTCLUSTER, else `.bench/testcluster` of this checkout. */
export function stateFolder(): string {
  const own = fileURLToPath(new URL("../../.bench/testcluster", import.meta.url));
  return resolve(process.env.BENCH_TESTCLUSTER || own);
}

/** What all checkouts of a user's share: programs, named by the digest of what they are built from. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "setup-bench", "testcluster");
}

/**
 * Where the node's own mount namespace shows the state folder: the ids of a pod's user namespace must pass all folders
 * above its files, which a home folder forbids, and paths in the configuration are the same for every checkout.
 */
export const INSIDE = "/run/setup-bench-testcluster";

export function kubeconfigPath(folder: string): string {
  return join(folder, "kubeconfig");
}
