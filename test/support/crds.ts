import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiextensionsV1Api } from "@kubernetes/client-node";
import { execa } from "execa";
import { parse } from "yaml";
import type { Cluster } from "../../activities/sandbox/kubernetes/client.ts";
import { eventually } from "../sandbox/subject.ts";
import type { Manifest } from "./chart.ts";
import { createRaw } from "./raw-api.ts";

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
  for (const [module, files] of SOURCES) {
    const { stdout } = await execa("go", ["mod", "download", "-json", module], {
      env: { GOFLAGS: "-mod=mod" },
    });
    const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
    for (const file of files)
      await ensureKind(cluster, parse(await readFile(join(folder, file), "utf8")) as Manifest);
  }
}

async function ensureKind(cluster: Cluster, definition: Manifest): Promise<void> {
  const { name } = definition.metadata;
  const { status, message } = await createRaw(cluster, definition);
  if (status >= 300 && status !== 409) throw new Error(`${name}: ${message}`);
  await eventually(async () => {
    const read = await cluster.api(ApiextensionsV1Api, `read ${name}`, (api) =>
      api.readCustomResourceDefinition({ name }),
    );
    return read.status?.conditions?.some((one) => one.type === "Established" && one.status === "True");
  });
}
