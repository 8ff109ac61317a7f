import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { parseAllDocuments } from "yaml";
import { ensureHelm } from "../../k8s/helm/ensure-helm.ts";

export const CHART = fileURLToPath(new URL("../../k8s/chart", import.meta.url));

/** A manifest as the chart renders it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds, looked into by tests
  [part: string]: any;
}

export interface Rendered {
  text: string;
  manifests: Manifest[];
}

/** What every installation with workers has to say. */
export const NEEDED = { temporal: { address: "temporal.example.org:7233" } };

let built: Promise<string> | undefined;

/** The real helm, built on first need. */
export function helm(): Promise<string> {
  built ??= ensureHelm((line) => console.error(line));
  return built;
}

/** `helm template` with these values; throws an Error with what helm said when it refuses them. */
export async function render(
  values: object,
  { release = "bench", namespace = "setup-bench" } = {},
): Promise<Rendered> {
  const args = [
    "template",
    release,
    CHART,
    "--namespace",
    namespace,
    "--kube-version",
    "1.34.4",
    "--values",
    "-",
  ];
  const result = await execa(await helm(), args, { input: JSON.stringify(values), reject: false });
  if (result.failed) throw new Error(result.stderr);
  const documents = parseAllDocuments(result.stdout);
  const manifests = documents.map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Manifest | null;
  });
  return { text: result.stdout, manifests: manifests.filter((manifest) => manifest !== null) };
}

/** Installs the chart for real. `test` is `helm test`, after an upgrade to changed values where some are given; `remove` takes away what it made, volumes and namespaces included. */
export async function install(
  kubeconfig: string,
  release: { name: string; namespace: string },
  values: object,
): Promise<{ test(changed?: object): Promise<boolean>; remove(): Promise<void> }> {
  const run = async (args: string[], input = "") =>
    execa(await helm(), [...args, "--namespace", release.namespace, "--kubeconfig", kubeconfig], {
      input,
      reject: false,
      all: true,
    });
  const upgrade = async (now: object) => {
    const upgraded = await run(
      ["upgrade", "--install", release.name, CHART, "--values", "-"],
      JSON.stringify(now),
    );
    if (upgraded.failed) throw new Error(upgraded.all);
  };
  await upgrade(values);
  return {
    async test(changed) {
      if (changed) await upgrade({ ...values, ...changed });
      const tested = await run(["test", release.name, "--timeout", "5m"]);
      return !tested.failed;
    },
    async remove() {
      const removed = await run(["uninstall", release.name]);
      if (removed.failed) throw new Error(removed.all);
    },
  };
}
