import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePart } from "../testcluster/build.ts";

const MODULE = import.meta.dirname;

/** Path of the helm command; built when the cache lacks it, some minutes on two cores. Throws with the log's tail. */
export async function ensureHelm(progress: (line: string) => void): Promise<string> {
  const sources = () => Promise.all(["go.mod", "go.sum"].map((name) => readFile(join(MODULE, name))));
  const folder = await ensurePart(
    {
      name: "helm",
      sources,
      build: (target, run) =>
        run(
          "go",
          [
            "build",
            "-trimpath",
            "-buildvcs=false",
            "-ldflags",
            "-s -w",
            "-o",
            target,
            "helm.sh/helm/v3/cmd/helm",
          ],
          { cwd: MODULE, env: { CGO_ENABLED: "0", GOFLAGS: "-mod=readonly" } },
        ),
    },
    progress,
  );
  return join(folder, "helm");
}
