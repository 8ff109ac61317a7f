import type { V1Pod } from "@kubernetes/client-node";
import { BINARY, STORE, STORE_PORT, storeEntrypoint } from "../contained/layout.ts";
import { ANNOTATIONS, CONTAINER, LABELS, labelValue, objectName } from "./names.ts";
import { roleLabels } from "./pod-spec.ts";
import { mergeTemplate, type PodTemplate } from "./pod-template.ts";

export interface StoreSpec {
  installation: string;
  sweep: string;
  node: string;
  /** That of the sandboxes, which the node has already. */
  image: string;
  program: string;
  template: PodTemplate;
  userNamespace: boolean;
  parent: { name: string; uid: string } | null;
}

const STORE_BYTES = 20 * 2 ** 30;
const DEADLINE_SECONDS = 24 * 3_600;
const NOBODY = 65_534;

/** The pod that keeps, on one node, the files that a sweep's sandboxes share. It has no rights at all. */
export function storePod(spec: StoreSpec): V1Pod {
  const { node, sweep, template, parent } = spec;
  const bare: V1Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: objectName("store", spec.installation, sweep, node),
      labels: { ...roleLabels(spec.installation, "store"), [LABELS.sweep]: labelValue(sweep) },
      annotations: { [ANNOTATIONS.id]: `store of ${sweep} on ${node}` },
      ...(parent ? { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", ...parent }] } : {}),
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: DEADLINE_SECONDS,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(spec.userNamespace ? { hostUsers: false } : {}),
      securityContext: { seccompProfile: { type: "RuntimeDefault" } },
      containers: [container(spec)],
      volumes: [
        { name: "program", configMap: { name: spec.program, defaultMode: 0o555 } },
        { name: "store", emptyDir: { sizeLimit: String(STORE_BYTES) } },
      ],
    },
  };
  const { containers: _, volumes: __, ...placement } = template.spec ?? {};
  const pod = mergeTemplate(bare, { ...template, spec: placement });
  const expression = { key: "metadata.name", operator: "In", values: [node] };
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [expression] }],
    },
  };
  return {
    ...pod,
    spec: { ...pod.spec, containers: bare.spec?.containers ?? [], affinity: { nodeAffinity } },
  };
}

function container({ image }: StoreSpec) {
  const resources = (memory: string, cpu: string, disk: number) => ({
    memory,
    cpu,
    "ephemeral-storage": String(disk),
  });
  return {
    name: CONTAINER,
    image,
    command: storeEntrypoint(),
    ports: [{ containerPort: STORE_PORT }],
    securityContext: {
      runAsUser: NOBODY,
      runAsGroup: NOBODY,
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    resources: {
      requests: resources("32Mi", "10m", 1 << 30),
      limits: resources("256Mi", "1", STORE_BYTES + (256 << 20)),
    },
    volumeMounts: [
      { name: "program", mountPath: BINARY.slice(0, BINARY.lastIndexOf("/")), readOnly: true },
      { name: "store", mountPath: STORE },
    ],
  };
}
