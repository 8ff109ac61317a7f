import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { parseAllDocuments, stringify } from "yaml";
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
  const result = await execa(await helm(), args, { input: stringify(values), reject: false });
  if (result.failed) throw new Error(result.stderr);
  const documents = parseAllDocuments(result.stdout);
  const manifests = documents.map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Manifest | null;
  });
  return { text: result.stdout, manifests: manifests.filter((manifest) => manifest !== null) };
}
