import { setTimeout as sleep } from "node:timers/promises";
import { VersionApi } from "@kubernetes/client-node";
import { type Cluster, connectCluster } from "../../../activities/sandbox/kubernetes/client.ts";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { type Check, ok, wrong } from "./check.ts";

const NAME = "cluster";
const PATIENCE_MS = 5_000;

/** The cluster that `--driver kubernetes` would use. Nothing is wrong where there is none. */
export async function clusterCheck(): Promise<Check> {
  let cluster: Cluster;
  try {
    cluster = connectCluster({ kubeconfig: null, context: null, namespace: null, patienceMs: PATIENCE_MS });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return ok(NAME, "none; only --driver kubernetes needs one, docs/clusters.md says how to get it");
  }
  const { server } = cluster;
  try {
    return ok(NAME, `${server} answers (${await version(cluster)})`);
  } catch (error) {
    const said = (error as Error).message.split("\n")[0];
    return wrong(NAME, "warning", `${server} can't be used: ${said}`, "kubectl cluster-info");
  } finally {
    await cluster.close();
  }
}

async function version(cluster: Cluster): Promise<string> {
  // A network that swallows packets is noticed by a call only much later.
  const late = sleep(PATIENCE_MS, null, { ref: false });
  const answer = await Promise.race([cluster.api(VersionApi, "read version", (api) => api.getCode()), late]);
  if (answer === null) throw new Error(`no answer within ${PATIENCE_MS / 1000} s`);
  return answer.gitVersion;
}
