import type { OnCluster } from "./cluster.ts";
import { mustRun } from "./timing.ts";

export interface Quota {
  quota_pods: number;
  quota_cells: number;
  quota_seconds: number;
}

const PODS = 5;
const WAITING = 40;

/** Many cells at once that a quota lets have few pods: all come to their end, or this never returns. */
export async function measureQuota(on: OnCluster, cells: number): Promise<Quota> {
  const { cluster, namespace } = on;
  const hard = { pods: String(PODS) };
  await cluster.core("create quota", (api) =>
    api.createNamespacedResourceQuota({ namespace, body: { metadata: { name: "few" }, spec: { hard } } }),
  );
  const driver = on.driver();
  const from = performance.now();
  let [next, done] = [0, 0];
  const worker = async () => {
    while (next < cells) {
      const spec = on.spec(`quota-${next++}`);
      await mustRun(driver, await driver.create(spec), "first", "true");
      await driver.destroy({ driver: "kubernetes", id: spec.id, host: "" });
      console.error(`  ${++done}/${cells} cells under the quota`);
    }
  };
  await Promise.all(Array.from({ length: WAITING }, worker));
  await cluster.core("delete quota", (api) => api.deleteNamespacedResourceQuota({ namespace, name: "few" }));
  const quota_seconds = (performance.now() - from) / 1_000;
  return { quota_pods: PODS, quota_cells: cells, quota_seconds };
}
