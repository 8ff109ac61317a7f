import test from "ava";
import { NEEDED, render } from "../support/chart.ts";
import { testNamespace } from "../support/cluster.ts";
import { ensureForeignKinds } from "../support/crds.ts";
import { refusalOf } from "../support/raw-api.ts";

const SCALED = { kind: "backlog", minReplicas: 2, maxReplicas: 9, targetQueueSize: 3, scaleDownSeconds: 60 };

const CASES: [title: string, values: object][] = [
  ["by default", NEEDED],
  ["without workers", { workers: { enabled: false } }],
  [
    "with everything switched on",
    {
      temporal: {
        address: "temporal.example.org:7233",
        namespace: "bench",
        apiKey: { existingSecret: "key" },
      },
      image: { repository: "registry.example.org/worker", tag: "1", pullSecrets: ["registry"] },
      state: { storageClassName: "nfs", size: "1Ti" },
      caBundle: { existingConfigMap: "ca" },
      environment: { HTTPS_PROXY: "http://10.0.0.1:3128", BENCH_HEADROOM: 3 },
      metrics: { annotations: false, podMonitor: { enabled: true, labels: { release: "prometheus" } } },
      workers: {
        general: {
          autoscaling: SCALED,
          nodeSelector: { pool: "workers" },
          tolerations: [{ operator: "Exists" }],
        },
        sandboxes: {
          autoscaling: { ...SCALED, kind: "cpu" },
          priorityClassName: "system-cluster-critical",
          podAnnotations: { note: "on" },
          affinity: { nodeAffinity: {} },
        },
      },
      sandboxes: {
        image: "registry.example.org/sandbox@sha256:0",
        podTemplate: { spec: { runtimeClassName: "gvisor" } },
        network: {
          clusterCidrs: ["34.1.0.0/16", "2600::/32"],
          allow: [{ cidr: "10.0.0.1/32", ports: [3128] }, { cidr: "fd00::/8" }],
        },
      },
      selfTest: { denied: ["10.0.0.9:443"], reached: ["pypi.org:443"] },
    },
  ],
  [
    "with everything switched off",
    {
      ...NEEDED,
      state: { existingClaim: "mine", accessMode: "ReadWriteOnce" },
      metrics: { annotations: false },
      workers: { general: { replicas: 0, graceSeconds: 0.5 }, sandboxes: { replicas: 3 } },
      sandboxes: {
        namespace: { podSecurity: "baseline" },
        userNamespaces: "off",
        admission: { enabled: false },
        quota: {
          pods: null,
          "requests.cpu": null,
          "requests.memory": null,
          "requests.ephemeral-storage": null,
        },
        network: { egress: "list", dns: [] },
      },
      selfTest: { enabled: false },
    },
  ],
];

const cluster = await testNamespace();

if (cluster === null) test.skip("what the API server says of the chart needs a cluster", () => {});
else {
  const sandboxes = `${cluster.namespace}-sandboxes`;

  test.before(async () => {
    const body = { metadata: { name: sandboxes } };
    await cluster.cluster.core("create namespace", (core) => core.createNamespace({ body }));
    await ensureForeignKinds(cluster.cluster);
  });
  test.after.always(async () => {
    await cluster.cluster.core("delete namespace", (core) => core.deleteNamespace({ name: sandboxes }));
    await cluster.remove();
  });

  for (const [title, values] of CASES) {
    test.serial(`the API server takes every manifest of the chart, ${title}`, async (t) => {
      const { manifests } = await render(values, { namespace: cluster.namespace });
      t.true(manifests.length > 4);
      for (const manifest of manifests) {
        // It exists already; another name is as good for the server's checks.
        if (manifest.kind === "Namespace") manifest.metadata.name += "-2";
        t.is(await refusalOf(cluster.cluster, manifest), null);
      }
    });
  }

  test.serial("the API server refuses a manifest with a field that it does not know", async (t) => {
    const { manifests } = await render(NEEDED, { namespace: cluster.namespace });
    const deployment = manifests.find(({ kind }) => kind === "Deployment");
    if (deployment === undefined) return t.fail("no Deployment");
    deployment.spec.template.spec.gracePeriod = 5;
    t.regex(
      (await refusalOf(cluster.cluster, deployment)) ?? "",
      /unknown field "spec\.template\.spec\.gracePeriod"/,
    );
  });
}
