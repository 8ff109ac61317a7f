import type { V1Pod } from "@kubernetes/client-node";

export const GROUPS: Record<string, string> = {
  deployments: "apps",
  roles: "rbac.authorization.k8s.io",
  rolebindings: "rbac.authorization.k8s.io",
  networkpolicies: "networking.k8s.io",
};

/** What the account of the pods' worker must not be able to do; namespace null: in the whole cluster. */
export const FORBIDDEN = (
  own: string,
  sandboxes: string,
): [verb: string, resource: string, namespace: string | null][] => [
  ...[own, sandboxes].flatMap((namespace): [string, string, string][] => [
    ...["get", "list", "watch", "create", "update", "delete"].map((verb): [string, string, string] => [
      verb,
      "secrets",
      namespace,
    ]),
    ["create", "serviceaccounts/token", namespace],
    ["create", "rolebindings", namespace],
    ["update", "roles", namespace],
    ["create", "deployments", namespace],
    ["delete", "networkpolicies", namespace],
    ["create", "pods/attach", namespace],
    ["create", "pods/portforward", namespace],
    ["update", "pods/ephemeralcontainers", namespace],
    ["deletecollection", "pods", namespace],
  ]),
  ["list", "pods", own],
  ["create", "pods", own],
  ["get", "configmaps", own],
  ["list", "pods", null],
  ["list", "nodes", null],
  ["get", "nodes/proxy", null],
  ["list", "secrets", null],
  ["impersonate", "users", null],
];

/** The least that the sandboxes' namespace takes. */
export function plainPod(image: string): V1Pod {
  return {
    metadata: { name: "probe" },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: "sandbox",
          image,
          securityContext: { capabilities: { drop: ["ALL"], add: ["CHOWN"] } },
          resources: { limits: { memory: "64Mi", "ephemeral-storage": "64Mi" } },
        },
      ],
    },
  };
}

type Change = (pod: V1Pod) => void;

const inSpec =
  (change: Partial<V1Pod["spec"]>): Change =>
  (pod) => {
    Object.assign(pod.spec ?? {}, change);
  };

const inContainer =
  (change: object): Change =>
  (pod) => {
    Object.assign(pod.spec?.containers[0] ?? {}, change);
  };

const drop = ["ALL"];

/** What would reach the node or the cluster, and what the API server says of it. */
export const ESCAPES: [change: Change, said: RegExp][] = [
  [inSpec({ hostNetwork: true }), /no part in its node's network/],
  [inSpec({ hostPID: true }), /no part in its node's network/],
  [inSpec({ hostIPC: true }), /no part in its node's network/],
  [inSpec({ automountServiceAccountToken: true }), /a sandbox gets no token/],
  [
    inSpec({ volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] }),
    /a sandbox gets no token/,
  ],
  [inSpec({ volumes: [{ name: "v", hostPath: { path: "/" } }] }), /no hostPath and sees no Secret/],
  [inSpec({ volumes: [{ name: "v", secret: { secretName: "s" } }] }), /no hostPath and sees no Secret/],
  [
    inContainer({ securityContext: { privileged: true, capabilities: { drop } } }),
    /a sandbox is not privileged/,
  ],
  [inContainer({ securityContext: {} }), /drops ALL capabilities/],
  [
    inContainer({ securityContext: { capabilities: { drop, add: ["SYS_MODULE"] } } }),
    /only the capabilities/,
  ],
  [inContainer({ securityContext: { capabilities: { drop, add: ["ALL"] } } }), /only the capabilities/],
  [
    inContainer({ securityContext: { capabilities: { drop, add: ["SYS_ADMIN"] } } }),
    /only with hostUsers: false/,
  ],
  [inContainer({ ports: [{ containerPort: 80, hostPort: 80 }] }), /no port of its node/],
  [
    inContainer({ env: [{ name: "X", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }),
    /sees no Secret/,
  ],
];
