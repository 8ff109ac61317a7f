import type { V1APIResourceList } from "@kubernetes/client-node";
import { request } from "undici";
import type { Cluster } from "../../activities/sandbox/kubernetes/client.ts";
import type { Manifest } from "./chart.ts";

/** What the API server says of a manifest that it would create, unknown fields included; null when it takes it. */
export async function refusalOf(cluster: Cluster, manifest: Manifest): Promise<string | null> {
  const { status, message } = await createRaw(cluster, manifest, "dryRun=All&fieldValidation=Strict");
  return status < 300 ? null : `${manifest.kind} ${manifest.metadata.name}: ${message}`;
}

/** As it stands: the client library's own serializers drop the fields of a schema that they do not know. */
export async function createRaw(
  cluster: Cluster,
  manifest: Manifest,
  query = "",
): Promise<{ status: number; message: string }> {
  const { apiVersion, kind, metadata } = manifest;
  const root = `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`;
  const { resources } = (await ask(cluster, "GET", root)).body as V1APIResourceList;
  const resource = resources?.find((one) => one.kind === kind && !one.name.includes("/"));
  if (resource === undefined) return { status: 404, message: `the server knows no ${apiVersion} ${kind}` };
  const where = resource.namespaced ? `/namespaces/${metadata.namespace}` : "";
  const { status, body } = await ask(cluster, "POST", `${root}${where}/${resource.name}?${query}`, manifest);
  return { status, message: (body as { message?: string }).message ?? "" };
}

async function ask(
  cluster: Cluster,
  method: "GET" | "POST",
  path: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const { headers } = await cluster.config().credentials();
  const response = await request(`${cluster.server}${path}`, {
    method,
    headers: { ...headers, "content-type": "application/json" },
    dispatcher: await cluster.config().dispatcher(),
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.statusCode, body: await response.body.json() };
}
