import { CausedError } from "../../errors.ts";
import { type CallInput, type CallResult, type FileInput, TransportFault } from "../contained/engine.ts";
import { parseAnswer } from "../contained/frame.ts";
import { relayed } from "../contained/layout.ts";
import type { Cluster } from "./client.ts";
import { ExecFault, execInPod } from "./exec.ts";
import type { NodeStores } from "./node-stores.ts";
import type { Pods } from "./pods.ts";

interface Ways {
  cluster: Cluster;
  pods: Pods;
  stores: NodeStores;
}

/** One call in a sandbox's pod. Throws what ContainerEngine.call says. */
export async function callInPod(
  parts: Ways,
  name: string,
  argv: readonly string[],
  input: CallInput | null,
): Promise<CallResult> {
  const pod = await parts.pods.running(name);
  const file = typeof input === "function" && "sha256" in input ? (input as FileInput) : null;
  const address = file && (await parts.stores.holding(pod, file));
  if (file && address) {
    const result = await execute(parts, name, relayed(address, file.sha256, argv), null);
    // What the call itself says no to, it would say no to again.
    if (parseAnswer(result).status !== "failed") return result;
    parts.stores.unreachable(pod);
  }
  return execute(parts, name, argv, typeof input === "function" ? input() : input);
}

async function execute(
  { cluster, pods }: Ways,
  name: string,
  argv: readonly string[],
  input: Uint8Array | AsyncIterable<Uint8Array> | null,
): Promise<CallResult> {
  try {
    return await execInPod(cluster, name, argv, input);
  } catch (error) {
    if (!(error instanceof ExecFault)) throw error;
    if (error.status === 403) {
      throw new CausedError("credentials", `exec into pod ${name}: ${error.message}`, { cause: error });
    }
    // The server knows why, where the connection does not; it is waited for if it is away.
    await pods.present(name);
    throw new TransportFault(`exec into pod ${name}: ${error.message}`, { cause: error });
  }
}
