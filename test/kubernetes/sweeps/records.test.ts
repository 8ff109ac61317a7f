import test from "ava";
import { onCluster } from "../../support/cluster.ts";
import { freshState } from "../../sweeps/bench.ts";
import { sameSweep } from "../../sweeps/same-records.ts";

await onCluster("sweep", ({ kubeconfig, namespace, cluster, base }) => {
  test.serial("a sweep in pods leaves the records of a local one, and no pod", async (t) => {
    t.timeout(30 * 60_000);
    const { state, end } = await freshState();
    try {
      const { location } = await base();
      const where = [
        "--kubeconfig",
        kubeconfig,
        "--kube-namespace",
        namespace,
        "--base",
        `docker://${location}`,
      ];
      const { local, other, drivers } = await sameSweep(state, ["--driver", "kubernetes", ...where]);
      t.deepEqual(drivers, ["kubernetes"]);
      t.is(local.length, 4);
      t.deepEqual(other, local);
      const { items } = await cluster.core("list pods", (api) => api.listNamespacedPod({ namespace }));
      t.deepEqual(
        items.map(({ metadata }) => metadata?.name),
        [],
      );
    } finally {
      await end();
    }
  });
});
