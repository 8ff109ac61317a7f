import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { STORE_PORT } from "../../activities/sandbox/contained/layout.ts";
import { LABELS } from "../../activities/sandbox/kubernetes/names.ts";
import { containerSecurity } from "../../activities/sandbox/kubernetes/pod-spec.ts";
import { storePod } from "../../activities/sandbox/kubernetes/store-pod.ts";
import { CHART, type Manifest, NEEDED, render } from "../support/chart.ts";

const SANDBOXES = "setup-bench-sandboxes";

const STORE = {
  installation: "i",
  sweep: "s",
  node: "n",
  image: "image",
  program: "program",
  template: {},
  userNamespace: true,
  parent: null,
};

function kinds(manifests: Manifest[], kind: string): Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

function container(deployment: Manifest | undefined) {
  return deployment?.spec.template.spec.containers[0];
}

function variables(deployment: Manifest | undefined): Record<string, unknown> {
  const entries: { name: string; value?: string; valueFrom?: unknown }[] = container(deployment).env;
  return Object.fromEntries(entries.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}

test("by default there is a worker for each task queue, which drains before it is killed", async (t) => {
  const { manifests } = await render(NEEDED);
  const deployments = kinds(manifests, "Deployment");
  t.deepEqual(
    deployments.map(({ metadata }) => metadata.name),
    ["bench-setup-bench-general", "bench-setup-bench-sandboxes"],
  );
  t.true(container(deployments[0]).args.includes("--queues=general"));
  t.true(container(deployments[1]).args.includes("--queues=kubernetes"));
  for (const deployment of deployments) {
    const pod = deployment.spec.template.spec;
    const grace = Number(/--grace=(\d+)/.exec(container(deployment).args.join(" "))?.[1]);
    t.true(pod.terminationGracePeriodSeconds >= grace + 10);
    t.is(container(deployment).livenessProbe.httpGet.path, "/livez");
    t.is(container(deployment).readinessProbe.httpGet.path, "/readyz");
    t.is(pod.securityContext.runAsNonRoot, true);
    t.deepEqual(container(deployment).securityContext.capabilities, { drop: ["ALL"] });
    t.is(variables(deployment).BENCH_ADDRESS, NEEDED.temporal.address);
  }
  t.deepEqual(
    deployments.map(({ spec }) => spec.template.spec.automountServiceAccountToken),
    [false, true],
    "only who drives pods gets a token",
  );
});

test("no manifest holds a secret: a key is named, and read by reference", async (t) => {
  const apiKey = { existingSecret: "temporal-key", key: "token" };
  const { manifests } = await render({ temporal: { ...NEEDED.temporal, apiKey } });
  t.deepEqual(kinds(manifests, "Secret"), []);
  for (const deployment of kinds(manifests, "Deployment")) {
    t.deepEqual(variables(deployment).BENCH_TEMPORAL_API_KEY, {
      secretKeyRef: { name: "temporal-key", key: "token" },
    });
  }
});

test("the role reaches into the sandboxes' namespace only, and no Secret", async (t) => {
  const { manifests } = await render(NEEDED);
  t.deepEqual([...kinds(manifests, "ClusterRole"), ...kinds(manifests, "ClusterRoleBinding")], []);
  const [role, ...others] = kinds(manifests, "Role");
  t.deepEqual(others, []);
  t.is(role?.metadata.namespace, SANDBOXES);
  const resources = role?.rules.flatMap((rule: { resources: string[] }) => rule.resources);
  t.deepEqual(resources.toSorted(), ["configmaps", "events", "pods", "pods/exec"]);
  t.false(JSON.stringify(role?.rules).includes("*"));
  const [binding] = kinds(manifests, "RoleBinding");
  t.deepEqual(binding?.subjects, [
    { kind: "ServiceAccount", name: "bench-setup-bench-sandboxes", namespace: "setup-bench" },
  ]);
});

test("the sandboxes' network is closed, and opened to the internet without private ranges", async (t) => {
  const { manifests } = await render({
    ...NEEDED,
    sandboxes: { network: { clusterCidrs: ["34.1.2.0/24", "2600:1f14::/56"] } },
  });
  const [deny, egress] = kinds(manifests, "NetworkPolicy");
  t.deepEqual(deny?.spec, { podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  t.deepEqual(egress?.spec.podSelector, { matchLabels: { "setup-bench/network": "on" } });
  const blocks = egress?.spec.egress.at(-1).to.map((to: { ipBlock: unknown }) => to.ipBlock);
  t.is(blocks[0].cidr, "0.0.0.0/0");
  for (const range of ["10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "34.1.2.0/24"]) {
    t.true(blocks[0].except.includes(range), range);
  }
  t.is(blocks[1].cidr, "::/0");
  for (const range of ["fc00::/7", "fe80::/10", "2600:1f14::/56"])
    t.true(blocks[1].except.includes(range), range);
});

test("sandboxes reach the stores of files by the labels and the port that the driver uses", async (t) => {
  const { manifests } = await render(NEEDED);
  const [to, from] = kinds(manifests, "NetworkPolicy").slice(2);
  const store = storePod(STORE).metadata?.labels;
  t.is(store?.[LABELS.role], "store");
  t.deepEqual(to?.spec.egress[0].to, [
    { podSelector: { matchLabels: { [LABELS.role]: store?.[LABELS.role] } } },
  ]);
  t.deepEqual(from?.spec.podSelector, { matchLabels: { [LABELS.role]: store?.[LABELS.role] } });
  for (const rule of [to?.spec.egress[0], from?.spec.ingress[0]]) {
    t.deepEqual(rule.ports, [{ protocol: "TCP", port: STORE_PORT }]);
  }
  const clients = { matchExpressions: [{ key: LABELS.role, operator: "In", values: ["sandbox", "warm"] }] };
  t.deepEqual(to?.spec.podSelector, clients);
  t.deepEqual(from?.spec.ingress[0].from, [{ podSelector: clients }]);
});

test("with a list, sandboxes reach DNS and the list and nothing else", async (t) => {
  const allow = [{ cidr: "10.1.2.3/32", ports: [3128] }, { cidr: "10.9.0.0/16" }];
  const { manifests } = await render({ ...NEEDED, sandboxes: { network: { egress: "list", allow } } });
  const rules = kinds(manifests, "NetworkPolicy")[1]?.spec.egress;
  t.is(rules.length, 3);
  t.deepEqual(rules[1], {
    to: [{ ipBlock: { cidr: "10.1.2.3/32" } }],
    ports: [{ protocol: "TCP", port: 3128 }],
  });
  t.deepEqual(rules[2].ports, [{ protocol: "TCP", port: 1, endPort: 65_535 }]);
});

test("without workers only the namespace of the sandboxes is made", async (t) => {
  const { manifests } = await render({ workers: { enabled: false } });
  const made = new Set(manifests.map(({ kind }) => kind));
  t.deepEqual([...made].sort(), [
    "LimitRange",
    "Namespace",
    "NetworkPolicy",
    "Pod",
    "ResourceQuota",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]);
});

test("a queue's backlog or the processor scales the workers, whose number is then theirs", async (t) => {
  const { manifests } = await render({
    temporal: { ...NEEDED.temporal, apiKey: { existingSecret: "k" } },
    workers: { general: { autoscaling: { kind: "backlog" } }, sandboxes: { autoscaling: { kind: "cpu" } } },
  });
  for (const { spec } of kinds(manifests, "Deployment")) t.false("replicas" in spec);
  const [scaled] = kinds(manifests, "ScaledObject");
  t.is(scaled?.spec.scaleTargetRef.name, "bench-setup-bench-general");
  t.is(scaled?.spec.triggers[0].metadata.taskQueue, "bench");
  t.is(
    scaled?.spec.triggers[0].authenticationRef.name,
    kinds(manifests, "TriggerAuthentication")[0]?.metadata.name,
  );
  const [hpa] = kinds(manifests, "HorizontalPodAutoscaler");
  t.is(hpa?.spec.scaleTargetRef.name, "bench-setup-bench-sandboxes");
});

test("the admission policy knows every capability that the driver may ask for, and no other", async (t) => {
  const text = await readFile(join(CHART, "templates/sandboxes/admission.yaml"), "utf8");
  const named = new Set(text.match(/(?<=')[A-Z_]{4,}(?=')/g));
  const asked = containerSecurity({
    mounts: true,
    userNamespace: true,
    seccomp: "RuntimeDefault",
  }).capabilities;
  t.deepEqual([...named].sort(), (asked?.add ?? []).toSorted());
});

test("only the worker that calls models gets their keys", async (t) => {
  const { manifests } = await render({ ...NEEDED, models: { existingSecret: "model-keys" } });
  const [general, sandboxes] = kinds(manifests, "Deployment").map(container);
  t.deepEqual(general.envFrom, [{ secretRef: { name: "model-keys" } }]);
  t.is(sandboxes.envFrom, undefined);
});
