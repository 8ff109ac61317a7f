import { resolve } from "node:path";
import { CausedError } from "../../activities/errors.ts";
import type { BaseRecipe } from "../../activities/sandbox/base/made.ts";
import { parseBaseRequest, prepareBase } from "../../activities/sandbox/base/prepare.ts";
import { dockerBase } from "../../activities/sandbox/docker/base.ts";
import { kubernetesBase } from "../../activities/sandbox/kubernetes/base.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { DriverName } from "../cli/options.ts";

export interface PreparedBase {
  digest: string;
  location: string;
  recipe: BaseRecipe;
}

/** The base where the driver needs it: a folder, an engine's image, a name that the cluster pulls. Throws UsageError. */
export async function baseFor(
  { driver, engine }: { driver: DriverName; engine: string | null },
  request: string,
  state: string,
  tell: (line: string) => void,
): Promise<PreparedBase> {
  const options = { stateFolder: resolve(state), progress: tell };
  try {
    const parsed = parseBaseRequest(request);
    if (driver === "docker")
      return await dockerBase(parsed, { ...options, ...(engine !== null && { engine }) });
    if (driver === "kubernetes") return kubernetesBase(parsed);
    return await prepareBase(parsed, options);
  } catch (error) {
    if (!(error instanceof CausedError)) throw error;
    const [line] = error.message.split("\n", 1);
    throw new UsageError(`--base ${request}: ${line}; name another one, or see \`pnpm bench doctor\``, {
      cause: error,
    });
  }
}
