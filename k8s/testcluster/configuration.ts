import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NODE, POD_GATEWAY, POD_RANGE } from "./addresses.ts";
import { writeKubeconfig } from "./certificates.ts";
import { INSIDE, kubeconfigPath } from "./folders.ts";
import { NETWORK_PLUGINS } from "./packages.ts";

export const PAUSE_IMAGE = "localhost/pause:1";
export const CONTAINERD_SOCKET = `${INSIDE}/containerd/containerd.sock`;
/** Those that reach the API server on the node itself, by `127.0.0.1`. */
const ON_NODE = ["kubelet", "kube-controller-manager", "kube-scheduler", "kube-proxy", "network-policies"];

export interface NodeSettings {
  /** Address at which this machine reaches the API server. */
  address: string;
  /** Folder of containerd, its shim and runc. */
  runtime: string;
  cgroup: string;
  mtu: number;
}

/** Writes all configuration files below the state folder; paths in them are as the node sees them. */
export async function writeConfiguration(folder: string, settings: NodeSettings): Promise<void> {
  for (const sub of ["configuration", "network", "containerd", "kubelet", "etcd"])
    await mkdir(join(folder, sub), { recursive: true });
  // Passed by the ids of pods' user namespaces on the way to their files.
  for (const sub of [".", "containerd", "kubelet"]) await chmod(join(folder, sub), 0o711);
  const files: Record<string, string> = {
    "configuration/containerd.toml": containerdConfiguration(settings),
    "configuration/kubelet.yaml": JSON.stringify(kubeletConfiguration(settings), null, 2),
    "configuration/kube-proxy.yaml": JSON.stringify(proxyConfiguration(), null, 2),
    "network/pods.conflist": JSON.stringify(networkConfiguration(settings), null, 2),
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), `${text}\n`);
  for (const client of ON_NODE)
    await writeKubeconfig(folder, client, "127.0.0.1", join(folder, "configuration", `${client}.kubeconfig`));
  await writeKubeconfig(folder, "admin", settings.address, kubeconfigPath(folder));
}

function containerdConfiguration({ runtime }: NodeSettings): string {
  return `version = 3
root = "${INSIDE}/containerd/root"
state = "${INSIDE}/containerd/state"
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins.'io.containerd.internal.v1.opt']
  path = "${INSIDE}/containerd/opt"
[plugins.'io.containerd.grpc.v1.cri']
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${PAUSE_IMAGE}"
[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  # A container without CAP_SYS_RESOURCE refuses the negative score of every pause process.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = "${runtime}/runc"
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["${NETWORK_PLUGINS}"]
    conf_dir = "${INSIDE}/network"`;
}

function kubeletConfiguration({ cgroup }: NodeSettings): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "0.0.0.0",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${INSIDE}/pki/ca.crt` },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: `${INSIDE}/pki/kubelet-server.crt`,
    tlsPrivateKeyFile: `${INSIDE}/pki/kubelet-server.key`,
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    resolvConf: "/etc/resolv.conf",
    makeIPTablesUtilChains: false,
    // Local images can't be pulled again, so no lack of room may remove them.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      "memory.available": "200Mi",
      "nodefs.available": "1%",
      "imagefs.available": "1%",
      "nodefs.inodesFree": "1%",
    },
    serializeImagePulls: false,
    syncFrequency: "10s",
    nodeStatusUpdateFrequency: "5s",
    podLogsDir: `${INSIDE}/pod-logs`,
    volumePluginDir: `${INSIDE}/kubelet/volumeplugins`,
  };
}

function proxyConfiguration(): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: `${INSIDE}/configuration/kube-proxy.kubeconfig` },
    clusterCIDR: POD_RANGE,
    hostnameOverride: NODE,
    mode: "nftables",
    healthzBindAddress: "127.0.0.1:10256",
    metricsBindAddress: "127.0.0.1:10249",
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    oomScoreAdj: 0,
  };
}

/** A cable per pod rather than a bridge: everything between pods is forwarded, where policies are enforced. */
function networkConfiguration({ mtu }: NodeSettings): object {
  const ipam = {
    type: "host-local",
    dataDir: `${INSIDE}/addresses`,
    ranges: [[{ subnet: POD_RANGE, gateway: POD_GATEWAY }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  return { cniVersion: "0.4.0", name: "pods", plugins: [{ type: "ptp", mtu, ipam }] };
}
