import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { type CallInput, type CallResult, TransportFault } from "../contained/engine.ts";
import { isStatus, messageOf } from "./client.ts";
import { execInContainer } from "./exec.ts";
import { inspected, lost } from "./provide.ts";

/** How long a container may stand still while an image of it is made. */
const COMMIT_MS = 600_000;
const PAUSE_MS = 200;

/** `whose` is the sandbox's id and its root, for messages. */
export async function callInContainer(
  container: Docker.Container,
  whose: readonly [id: string, root: string | undefined],
  argv: readonly string[],
  input: CallInput | null,
): Promise<CallResult> {
  for (const end = Date.now() + COMMIT_MS; ; await sleep(PAUSE_MS)) {
    try {
      return await execInContainer(container, argv, input);
    } catch (error) {
      if (!isStatus(error, 404, 409)) throw error;
      const info = await inspected(container);
      if (!info?.State.Running) throw lost(whose[0], info?.State ?? null, whose[1]);
      if (info.State.Paused && Date.now() < end) continue;
      throw new TransportFault(`the engine: ${messageOf(error)}`, { cause: error });
    }
  }
}
