import test from "ava";
import { mergeTemplate, parseTemplate } from "../../../activities/sandbox/kubernetes/pod-template.ts";
import { UsageError } from "../../../benchmarks/usage-error.ts";

const OURS = {
  metadata: { name: "p", labels: { "setup-bench/role": "sandbox" } },
  spec: {
    restartPolicy: "Never",
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "sandbox",
        image: "base",
        command: ["init"],
        resources: { requests: { memory: "10", cpu: "1" }, limits: { memory: "20" } },
        volumeMounts: [{ name: "volume", mountPath: "/.bench/volume" }],
      },
    ],
    volumes: [{ name: "volume", emptyDir: {} }],
  },
};

const FULL = `
metadata:
  labels: { kueue.x-k8s.io/queue-name: benchmarks }
  annotations: { cluster-autoscaler.kubernetes.io/safe-to-evict: "false" }
spec:
  imagePullSecrets: [{ name: registry }]
  nodeSelector: { pool: sandboxes }
  tolerations: [{ key: sandboxes, operator: Exists }]
  priorityClassName: low
  runtimeClassName: gvisor
  containers:
    - name: sandbox
      image: registry.example.org/base:1
      imagePullPolicy: Always
      resources: { requests: { memory: 15, cpu: 2 }, limits: { nvidia.com/gpu: "1" } }
`;

test("a template adds to the pod and takes nothing of ours away", (t) => {
  const merged = mergeTemplate(OURS, parseTemplate(FULL, "t.yaml"));
  t.like(merged.metadata, {
    name: "p",
    labels: { "kueue.x-k8s.io/queue-name": "benchmarks", "setup-bench/role": "sandbox" },
    annotations: { "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" },
  });
  t.like(merged.spec, {
    restartPolicy: "Never",
    imagePullSecrets: [{ name: "registry" }],
    nodeSelector: { pool: "sandboxes" },
    priorityClassName: "low",
    runtimeClassName: "gvisor",
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    volumes: OURS.spec.volumes,
  });
  t.like(merged.spec?.containers[0], {
    name: "sandbox",
    image: "registry.example.org/base:1",
    imagePullPolicy: "Always",
    command: ["init"],
    volumeMounts: OURS.spec.containers[0]?.volumeMounts,
  });
  t.deepEqual(merged.spec?.containers[0]?.resources as unknown, {
    requests: { memory: 15, cpu: 2 },
    limits: { memory: "20", "nvidia.com/gpu": "1" },
  });
});

test("an empty template changes nothing", (t) => {
  t.deepEqual(mergeTemplate(OURS, parseTemplate("", "t.yaml")).spec, OURS.spec);
});

const REFUSED: [string, RegExp][] = [
  ["spec: { restartPolicy: Always }", /spec\.restartPolicy can't be set: a restarted sandbox/],
  ["spec: { hostNetwork: true }", /spec\.hostNetwork/],
  ["spec: { hostPID: true }", /spec\.hostPID/],
  ["spec: { hostUsers: true }", /spec\.hostUsers can't be set: the setting kubernetes\.userNamespaces/],
  ["spec: { automountServiceAccountToken: true }", /spec\.automountServiceAccountToken/],
  ["spec: { serviceAccountName: admin }", /spec\.serviceAccountName/],
  ["spec: { nodename: x }", /spec\.nodename can't be set: it may hold/],
  ["spec: { containers: [{ name: other }] }", /spec\.containers\[0\]\.name/],
  ["spec: { containers: [{ name: sandbox }, { name: sandbox }] }", /spec\.containers\[1\]\.name/],
  ["spec: { containers: [{ name: sandbox, command: [sh] }] }", /spec\.containers\[0\]\.command/],
  ["spec: { containers: [{ name: sandbox, securityContext: { privileged: true } }] }", /\.securityContext/],
  ["spec: { containers: [{ name: sandbox, env: [] }] }", /\.env can't be set: commands would not see it/],
  [
    "spec: { containers: [{ name: sandbox, resources: { limits: { memory: 1 } } }] }",
    /\.limits\.memory can't be set: the sweep's limits/,
  ],
  ["spec: { securityContext: { runAsUser: 1 } }", /spec\.securityContext\.runAsUser/],
  ["spec: { volumes: [{ name: x, hostPath: { path: / } }] }", /spec\.volumes\[0\]\.hostPath/],
  ["spec: { volumes: [{ name: x, secret: { secretName: s } }] }", /spec\.volumes\[0\]\.secret/],
  ["metadata: { name: x }", /metadata\.name/],
  ["metadata: { labels: { setup-bench/sweep: x } }", /metadata\.labels\["setup-bench\/sweep"\]/],
  [
    "metadata: { annotations: { a: true } }",
    /metadata\.annotations\["a"\]: true is no string\. Remedy: put it in quotes/,
  ],
  ["kind: Deployment", /kind: "Deployment"/],
  ["- a", /the file must be a mapping/],
  ["spec: { volumes: 3 }", /spec\.volumes must be a list/],
  ["spec: [", /t\.yaml/],
];

for (const [text, message] of REFUSED) {
  test(`the template ${text} is refused by one line that names file and key`, (t) => {
    const error = t.throws(() => parseTemplate(text, "t.yaml"), { instanceOf: UsageError });
    t.regex(error?.message ?? "", message);
    t.regex(error?.message ?? "", /^pod template t\.yaml: [^\n]*$/);
  });
}
