import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { API_PORT, allNodeAddresses, NODE, SERVICE_API } from "./addresses.ts";

const DAYS = "3650";
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

interface Holder {
  file: string;
  subject: string;
  names?: string[];
}

/** Who proves who they are by a certificate, besides the servers. */
const CLIENTS: Record<string, string> = {
  admin: "/O=system:masters/CN=admin",
  kubelet: `/O=system:nodes/CN=system:node:${NODE}`,
  "kube-controller-manager": "/CN=system:kube-controller-manager",
  "kube-scheduler": "/CN=system:kube-scheduler",
  "kube-proxy": "/CN=system:kube-proxy",
  "network-policies": "/O=system:masters/CN=network-policies",
  "kube-apiserver-kubelet-client": "/O=system:masters/CN=kube-apiserver-kubelet-client",
};

/** Makes `<folder>/pki` once: an authority, and a key and certificate for each component. */
export async function ensureCertificates(folder: string): Promise<void> {
  const pki = join(folder, "pki");
  if (await stat(pki).catch(missing)) return;
  const draft = join(folder, "pki.draft");
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await openssl(draft, [
    ...[
      "req",
      "-x509",
      ...KEY,
      "-keyout",
      "ca.key",
      "-out",
      "ca.crt",
      "-days",
      DAYS,
      "-subj",
      "/CN=testcluster-ca",
    ],
    ...["-addext", "basicConstraints=critical,CA:TRUE"],
    ...["-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"],
  ]);
  const clients = Object.entries(CLIENTS).map(([file, subject]) => ({ file, subject }));
  for (const holder of [...servers(), ...clients]) await issue(draft, holder);
  await openssl(draft, ["genrsa", "-out", "accounts.key", "2048"]);
  await openssl(draft, ["rsa", "-in", "accounts.key", "-pubout", "-out", "accounts.pub"]);
  await rename(draft, pki);
}

/** Writes how `client` reaches the API server at `address`. */
export async function writeKubeconfig(
  folder: string,
  client: string,
  address: string,
  target: string,
): Promise<void> {
  const [authority, certificate, key] = await Promise.all(
    ["ca.crt", `${client}.crt`, `${client}.key`].map((file) => readFile(join(folder, "pki", file), "base64")),
  );
  const server = `https://${address}:${API_PORT}`;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: NODE, cluster: { server, "certificate-authority-data": authority } }],
    users: [{ name: client, user: { "client-certificate-data": certificate, "client-key-data": key } }],
    contexts: [{ name: NODE, context: { cluster: NODE, user: client, namespace: "default" } }],
    "current-context": NODE,
  };
  await mkdir(join(target, ".."), { recursive: true });
  await writeFile(`${target}.draft`, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  await rename(`${target}.draft`, target);
}

function servers(): Holder[] {
  const service = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const names = ["localhost", ...service].map((name) => `DNS:${name}`);
  const addresses = ["127.0.0.1", SERVICE_API, ...allNodeAddresses()].map((address) => `IP:${address}`);
  return [
    { file: "kube-apiserver", subject: "/CN=kube-apiserver", names: [...names, ...addresses] },
    {
      file: "kubelet-server",
      subject: `/O=system:nodes/CN=system:node:${NODE}`,
      names: [`DNS:${NODE}`, "IP:127.0.0.1", ...allNodeAddresses().map((address) => `IP:${address}`)],
    },
  ];
}

async function issue(pki: string, { file, subject, names }: Holder): Promise<void> {
  const extensions = [
    "keyUsage=critical,digitalSignature,keyEncipherment",
    "extendedKeyUsage=serverAuth,clientAuth",
    ...(names ? [`subjectAltName=${names.join(",")}`] : []),
  ];
  await writeFile(join(pki, "extensions"), `${extensions.join("\n")}\n`);
  await openssl(pki, ["req", ...KEY, "-keyout", `${file}.key`, "-out", "request", "-subj", subject]);
  await openssl(pki, [
    ...["x509", "-req", "-in", "request", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"],
    ...["-out", `${file}.crt`, "-days", DAYS, "-extfile", "extensions"],
  ]);
}

async function openssl(cwd: string, args: string[]): Promise<void> {
  const result = await execa("openssl", args, { cwd, stdin: "ignore", reject: false, all: true });
  if (result.failed) throw new Error(`openssl ${args[0]} failed: ${result.all ?? result.shortMessage}`);
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
