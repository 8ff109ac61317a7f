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
}

/**
 * Finds or starts this machine's worker for the server. One that serves a server which is gone (the embedded one may
 * come back on another port) is replaced; throws UsageError when it serves another one that answers.
 */
export async function ensureWorker(wanted: WorkerDaemon): Promise<void> {
  const { identity, started } = await startDaemon(daemonSpec(wanted));
  if (started) return;
  const serves = await servedBy(identity.pid);
  if (serves === null || (serves.address === wanted.address && serves.namespace === wanted.namespace)) return;
  const [host = "", port = ""] = serves.address.split(/:(?=\d+$)/);
  if (serves.address === wanted.address || (await refusal(host, Number(port))) === null) {
    throw new UsageError(
      `--address ${wanted.address}: the worker of ${wanted.state} serves ${serves.address} (namespace ${serves.namespace}); ` +
        "stop it with `pnpm bench down`, or name another --state",
    );
  }
  await stopProcess(identity, 15);
  await startDaemon(daemonSpec(wanted));
}

function daemonSpec({ state, address, namespace, server }: WorkerDaemon): DaemonSpec {
  return {
    folder: stackFolder(state),
    name: WORKER,
    command: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      fileURLToPath(new URL("../../workers/main.ts", import.meta.url)),
      ...["--state", resolve(state), "--address", address, "--namespace", namespace, "--server", server],
    ],
    environment: workerEnvironment(process.env),
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

function workerEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const passed = Object.entries(environment).filter(([name]) => PASSED_ON.test(name));
  return Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""]));
}
