import { readdirSync, realpathSync, statSync } from "node:fs";
import { UsageError } from "../../benchmarks/usage-error.ts";

/** What sandboxes need to reach the network the way this machine does; parts of a SandboxSpec. */
export interface HostNetworkSettings {
  mounts: { source: string; target: string }[];
  environment: Record<string, string>;
}

/** Where the CA bundle is inside sandboxes. */
export const BUNDLE_TARGET = "/etc/bench/ca.crt";

/** First one set wins. The last may hold only the company's own certificates. */
const BUNDLE_VARIABLES = [
  "BENCH_CA_BUNDLE",
  "SSL_CERT_FILE",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "NODE_EXTRA_CA_CERTS",
] as const;

/** What the tools inside read, all of them pointed at the bundle. */
const BUNDLE_READERS = [
  "SSL_CERT_FILE",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "NODE_EXTRA_CA_CERTS",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "CARGO_HTTP_CAINFO",
];

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
const NO_PROXY = ["NO_PROXY", "no_proxy"];
const INDEX_ADDRESSES = [
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "UV_DEFAULT_INDEX",
  "UV_INDEX",
  "UV_INDEX_URL",
  "UV_EXTRA_INDEX_URL",
  "NPM_CONFIG_REGISTRY",
  "GOPROXY",
];
const INDEX_SETTINGS = ["PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES"];

/** Certificates that an administrator added to the system's own store (Debian's update-ca-certificates). */
const ADDED_CERTIFICATES = "/usr/local/share/ca-certificates";
const SYSTEM_BUNDLE = "/etc/ssl/certs/ca-certificates.crt";

/**
 * CA bundle, proxies and package index settings of this machine, for use inside sandboxes. Hostile code runs there:
 * a value with credentials in it is refused (UsageError that names the variable, never its value).
 */
export function detectHostNetworkSettings(environment: NodeJS.ProcessEnv): HostNetworkSettings {
  const passed: Record<string, string> = {};
  for (const name of [...PROXIES, ...NO_PROXY, ...INDEX_ADDRESSES, ...INDEX_SETTINGS]) {
    const value = environment[name];
    if (!value) continue;
    refuseCredentials(name, value);
    if (PROXIES.includes(name)) refuseLoopback(name, value);
    passed[name] = value;
  }
  const bundle = findCaBundle(environment);
  if (bundle === null) return { mounts: [], environment: passed };
  for (const name of BUNDLE_READERS) passed[name] = BUNDLE_TARGET;
  return { mounts: [{ source: bundle.path, target: BUNDLE_TARGET }], environment: passed };
}

/** The CA bundle to hand on and what named it; null when this machine trusts nothing out of the ordinary. */
export function findCaBundle(environment: NodeJS.ProcessEnv): { path: string; from: string } | null {
  for (const name of BUNDLE_VARIABLES) {
    const path = environment[name];
    if (!path) continue;
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
      throw new UsageError(`${name}: ${path} is not a file. Remedy: correct it, or unset it`);
    }
    return { path: realpathSync(path), from: name };
  }
  const added = statSync(ADDED_CERTIFICATES, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(ADDED_CERTIFICATES, { recursive: true }).some((name) => String(name).endsWith(".crt"))
    : false;
  if (!added || !statSync(SYSTEM_BUNDLE, { throwIfNoEntry: false })) return null;
  return { path: realpathSync(SYSTEM_BUNDLE), from: ADDED_CERTIFICATES };
}

function refuseCredentials(name: string, value: string): void {
  // Userinfo stands before an @ in the authority; a proxy may come without a scheme.
  const hasUserinfo = value.split(/[\s,|]+/).some((part) => /^[^/?#]*@/.test(part.replace(/^.*?:\/\//, "")));
  if (!hasUserinfo) return;
  throw new UsageError(
    `${name} holds credentials, which code in sandboxes could read. Remedy: unset it for this command, ` +
      "or give an address that needs none",
  );
}

function refuseLoopback(name: string, value: string): void {
  const host = value.replace(/^\w+:\/\//, "");
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)/i.test(host)) return;
  throw new UsageError(
    `${name} points to this machine's loopback interface, which sandboxes cannot reach. Remedy: let the proxy ` +
      "listen on an address of the network and name that, or unset it for this command",
  );
}
