import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { prepareBase } from "../../activities/sandbox/base/prepare.ts";
import { TAR, tarKeeper } from "../../activities/sandbox/base/tar-keeper.ts";
import type { SandboxBase } from "../../activities/sandbox/driver.ts";

/** The default base as an image of the running test cluster, given to it if need be. */
export async function baseImage(baseFolder: string): Promise<SandboxBase> {
  const base = await prepareBase({ kind: "debian" }, { stateFolder: baseFolder, unpacker: tarKeeper });
  const location = `localhost/setup-bench-test:${base.digest.slice(0, 16)}`;
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const { stdout } = await execa(process.execPath, [main, "images"]);
  if (!stdout.includes(location)) {
    await execa(process.execPath, [main, "image", join(base.location, TAR), location]);
  }
  return { digest: base.digest, location };
}
