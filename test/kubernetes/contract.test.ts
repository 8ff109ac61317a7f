import { contract } from "../sandbox/contract.ts";
import { onCluster } from "../support/cluster.ts";

await onCluster("contract", async (cluster) => {
  const driver = cluster.driver({ image: (await cluster.base()).location });
  contract({
    name: "kubernetes",
    driver: () => driver,
    base: cluster.base,
    capabilities: await driver.capabilities(),
  });
});
