import { writeFile } from "node:fs/promises";
import { KubeConfig } from "@kubernetes/client-node";
import type { Cluster } from "../../activities/sandbox/kubernetes/client.ts";

/** Writes a kubeconfig that knows nothing but a service account's token; as a pod of that account would have it. */
export async function accountConfig(
  cluster: Cluster,
  adminConfig: string,
  account: { name: string; namespace: string },
  file: string,
): Promise<{ token: string }> {
  const { status } = await cluster.core("create token", (api) =>
    api.createNamespacedServiceAccountToken({
      ...account,
      body: { spec: { audiences: [], expirationSeconds: 3_600 } },
    }),
  );
  const token = status?.token ?? "";
  const config = new KubeConfig();
  config.loadFromFile(adminConfig);
  const server = config.getCurrentCluster();
  if (server === null) throw new Error(`${adminConfig}: no cluster`);
  config.loadFromClusterAndUser(server, { name: account.name, token });
  await writeFile(file, config.exportConfig(), { mode: 0o600 });
  return { token };
}
