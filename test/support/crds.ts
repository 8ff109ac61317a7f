import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiException, ApiextensionsV1Api, type V1CustomResourceDefinition } from "@kubernetes/client-node";
import { execa } from "execa";
import { parse } from "yaml";
import type { Cluster } from "../../activities/sandbox/kubernetes/client.ts";
import { eventually } from "../sandbox/subject.ts";

/** Where the definitions of foreign kinds come from: the modules in which their makers publish them. */
const SOURCES: [module: string, files: string[]][] = [
  [
    "github.com/kedacore/keda/v2@v2.20.2",
    ["config/crd/bases/keda.sh_scaledobjects.yaml", "config/crd/bases/keda.sh_triggerauthentications.yaml"],
  ],
  [
    "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    ["example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"],
  ],
];

/** Teaches the cluster the kinds that the chart may use, and waits until it knows them. */
export async function ensureForeignKinds(cluster: Cluster): Promise<void> {
  const api = cluster.config().makeApiClient(ApiextensionsV1Api);
  for (const [module, files] of SOURCES) {
    const { stdout } = await execa("go", ["mod", "download", "-json", module], {
      env: { GOFLAGS: "-mod=mod" },
    });
    const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
    for (const file of files) {
      const body = parse(await readFile(join(folder, file), "utf8")) as V1CustomResourceDefinition;
      await create(api, body);
    }
  }
}

async function create(api: ApiextensionsV1Api, body: V1CustomResourceDefinition): Promise<void> {
  const name = body.metadata?.name ?? "";
  try {
    await api.createCustomResourceDefinition({ body });
  } catch (error) {
    if (!(error instanceof ApiException && error.code === 409)) throw error;
  }
  await eventually(async () => {
    const { status } = await api.readCustomResourceDefinition({ name });
    return status?.conditions?.some((one) => one.type === "Established" && one.status === "True");
  });
}
