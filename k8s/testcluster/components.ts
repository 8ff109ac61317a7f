import { join } from "node:path";
import { API_PORT, type Link, NODE, POD_RANGE, SERVICE_RANGE } from "./addresses.ts";
import type { Binaries } from "./build.ts";
import { INSIDE } from "./folders.ts";

const PKI = `${INSIDE}/pki`;
const ETCD = "http://127.0.0.1:2379";
const ETCD_PEER = "http://127.0.0.1:2380";

/** In the order in which they start; `network-policies` before the first pod can. */
export const COMPONENTS = [
  "etcd",
  "containerd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
  "network-policies",
  "kubelet",
] as const;

export type Component = (typeof COMPONENTS)[number];

/** The command line of a component, with paths as the node sees them. */
export function commandOf(component: Component, binaries: Binaries, link: Link): string[] {
  if (component === "containerd")
    return [
      join(binaries.runtime, "containerd"),
      "--config",
      `${INSIDE}/configuration/containerd.toml`,
      "--log-level",
      "warn",
    ];
  const flags = {
    etcd: etcdFlags,
    "kube-apiserver": () => apiserverFlags(link),
    "kube-controller-manager": controllerFlags,
    "kube-scheduler": () => [
      kubeconfigOf("kube-scheduler"),
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
    ],
    "kube-proxy": () => [`--config=${INSIDE}/configuration/kube-proxy.yaml`],
    "network-policies": () => [kubeconfigOf("network-policies"), `--pod-range=${POD_RANGE}`],
    kubelet: () => kubeletFlags(link),
  }[component]();
  return [binaries.hyperkube, component, ...flags];
}

function kubeconfigOf(client: string): string {
  return `--kubeconfig=${INSIDE}/configuration/${client}.kubeconfig`;
}

/** A cluster for tests need not survive a power cut. */
function etcdFlags(): string[] {
  return [
    `--name=${NODE}`,
    `--data-dir=${INSIDE}/etcd`,
    `--listen-client-urls=${ETCD}`,
    `--advertise-client-urls=${ETCD}`,
    `--listen-peer-urls=${ETCD_PEER}`,
    `--initial-advertise-peer-urls=${ETCD_PEER}`,
    `--initial-cluster=${NODE}=${ETCD_PEER}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

function apiserverFlags(link: Link): string[] {
  const kubelet = `${PKI}/kube-apiserver-kubelet-client`;
  return [
    `--etcd-servers=${ETCD}`,
    "--bind-address=0.0.0.0",
    `--secure-port=${API_PORT}`,
    `--advertise-address=${link.node}`,
    `--client-ca-file=${PKI}/ca.crt`,
    `--tls-cert-file=${PKI}/kube-apiserver.crt`,
    `--tls-private-key-file=${PKI}/kube-apiserver.key`,
    `--kubelet-certificate-authority=${PKI}/ca.crt`,
    `--kubelet-client-certificate=${kubelet}.crt`,
    `--kubelet-client-key=${kubelet}.key`,
    "--kubelet-preferred-address-types=InternalIP",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${PKI}/accounts.pub`,
    `--service-account-signing-key-file=${PKI}/accounts.key`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged=true",
    "--profiling=false",
  ];
}

function controllerFlags(): string[] {
  return [
    kubeconfigOf("kube-controller-manager"),
    "--use-service-account-credentials",
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    "--allocate-node-cidrs=false",
    `--root-ca-file=${PKI}/ca.crt`,
    `--service-account-private-key-file=${PKI}/accounts.key`,
    `--cluster-signing-cert-file=${PKI}/ca.crt`,
    `--cluster-signing-key-file=${PKI}/ca.key`,
  ];
}

function kubeletFlags(link: Link): string[] {
  return [
    `--config=${INSIDE}/configuration/kubelet.yaml`,
    kubeconfigOf("kubelet"),
    `--root-dir=${INSIDE}/kubelet`,
    `--cert-dir=${INSIDE}/kubelet/pki`,
    `--hostname-override=${NODE}`,
    `--node-ip=${link.node}`,
  ];
}
