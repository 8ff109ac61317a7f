import { UsageError } from "../../benchmarks/usage-error.ts";
import { type Check, lacking, probe, which } from "../../scripts/stack/doctor/check.ts";
import { fix } from "../../scripts/stack/doctor/fix.ts";

/** Where Debian's containernetworking-plugins are. */
export const NETWORK_PLUGINS = "/usr/lib/cni";

const COMMANDS: Record<string, string[]> = {
  cc: ["gcc", "libc6-dev"],
  "pkg-config": ["pkg-config"],
  openssl: ["openssl"],
  ip: ["iproute2"],
  nft: ["nftables"],
  iptables: ["iptables"],
  nsenter: ["util-linux"],
  ptp: ["containernetworking-plugins"],
};

/** Installs what the build and the cluster need and this machine lacks; throws UsageError where it can't. */
export async function ensurePackages(progress: (line: string) => void): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    throw new UsageError(
      "the test cluster needs Linux and root. Remedy: run as root, or give another cluster's kubeconfig (docs/clusters.md)",
    );
  const environment = { ...process.env, PATH: `${process.env.PATH}:${NETWORK_PLUGINS}` };
  const missing: Check[] = [];
  for (const [command, packages] of Object.entries(COMMANDS)) {
    if ((await which(command, environment)) === null)
      missing.push(lacking(command, `no ${command}`, packages));
  }
  // The container runtime's C part links it.
  if (!(await probe("pkg-config", ["--exists", "libseccomp"], { environment })).works)
    missing.push(lacking("libseccomp", "no libseccomp", ["libseccomp-dev", "pkg-config"]));
  if (missing.length > 0) await fix(missing, { stateFolder: "", progress });
  if ((await which("go", environment)) === null)
    throw new UsageError(
      "go (1.24 or newer) is not on the search path. Remedy: install it, or give another cluster's kubeconfig (docs/clusters.md)",
    );
}
