import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { refusal } from "./port.ts";
import { type DaemonSpec, startDaemon, stopProcess } from "./process.ts";

export const WORKER = "worker";

export interface WorkerDaemon {
  state: string;
  address: string;
  namespace: string;
  /** See `TemporalService.server`. */
  server: string;
  /** Names of further variables that it needs; where the caller has none of a name, the worker keeps its own. */
  keys?: readonly string[];
}

/**
 * Finds or starts this machine's worker for the server. One that serves a server which is gone (the embedded one may
 * come back on another port) is replaced; throws UsageError when it serves another one that answers.
 */
export async function ensureWorker(wanted: WorkerDaemon): Promise<void> {
  const { identity, started } = await startDaemon(daemonSpec(wanted, {}));
  if (started) return;
  const kept = keysOf(await environmentOf(identity.pid));
  const serves = await servedBy(identity.pid);
  if (serves === null) return;
  if (serves.address === wanted.address && serves.namespace === wanted.namespace) {
    if (isEquipped(kept, wanted.keys ?? [])) return;
    // A retry is all that what it does now loses by it.
    await stopProcess(identity, 15);
    await startDaemon(daemonSpec(wanted, kept));
    return;
  }
  const [host = "", port = ""] = serves.address.split(/:(?=\d+$)/);
  if (serves.address === wanted.address || (await refusal(host, Number(port))) === null) {
    throw new UsageError(
      `--address ${wanted.address}: the worker of ${wanted.state} serves ${serves.address} (namespace ${serves.namespace}); ` +
        "stop it with `pnpm bench down`, or name another --state",
    );
  }
  await stopProcess(identity, 15);
  await startDaemon(daemonSpec(wanted, kept));
}

function isEquipped(has: Record<string, string>, keys: readonly string[]): boolean {
  return keys.every((name) => process.env[name] === undefined || process.env[name] === has[name]);
}

function daemonSpec(
  { state, address, namespace, server, keys = [] }: WorkerDaemon,
  kept: Record<string, string>,
): DaemonSpec {
  return {
    folder: stackFolder(state),
    name: WORKER,
    command: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      fileURLToPath(new URL("../../workers/main.ts", import.meta.url)),
      ...["--state", resolve(state), "--address", address, "--namespace", namespace, "--server", server],
    ],
    environment: { ...kept, ...workerEnvironment(process.env, keys) },
  };
}

/** From its command line, which can't be out of date; null when it has just ended. */
async function servedBy(pid: number): Promise<{ address: string; namespace: string } | null> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return "";
    throw error;
  });
  const words = text.split("\0");
  const value = (flag: string) => words[words.lastIndexOf(flag) + 1] ?? "";
  return words.includes("--address")
    ? { address: value("--address"), namespace: value("--namespace") }
    : null;
}

export function stackFolder(state: string): string {
  return resolve(state, "stack");
}

/** What a worker may know of the caller's environment: where programs are and how the network is reached. */
const PASSED_ON =
  /^(PATH|HOME|LANG|TMPDIR|XDG_\w+|BENCH_\w+|TEMPORAL_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|PIP_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_\w+|(HTTPS?|NO|ALL)_PROXY|NODE_USE_ENV_PROXY)$/i;

/** The keys that earlier sweeps gave a worker: one that takes its place needs them as well. */
function keysOf(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isOfEvery(name)));
}

/** What a shell or the launcher adds is no key. */
function isOfEvery(name: string): boolean {
  return PASSED_ON.test(name) || ["PWD", "OLDPWD", "SHLVL", "_"].includes(name);
}

async function environmentOf(pid: number): Promise<Record<string, string>> {
  const text = await readFile(`/proc/${pid}/environ`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return "";
    throw error;
  });
  const pairs = text.split("\0").filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}

function workerEnvironment(environment: NodeJS.ProcessEnv, keys: readonly string[]): Record<string, string> {
  const wanted = (name: string) => PASSED_ON.test(name) || keys.includes(name);
  const passed = Object.entries(environment).filter(([name]) => wanted(name));
  return Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""]));
}
