import { execa, type Options } from "execa";
import type { Binaries } from "./build.ts";
import { kubeconfigPath } from "./folders.ts";

interface Reached {
  folder: string;
  binaries: Binaries;
}

/** Runs kubectl as the administrator; does not throw. */
export async function kubectl(
  { folder, binaries }: Reached,
  args: readonly string[],
): Promise<{ failed: boolean; stdout: string; stderr: string }> {
  const { failed, stdout, stderr } = await execa(binaries.hyperkube, ["kubectl", ...args], {
    env: { KUBECONFIG: kubeconfigPath(folder) },
    stdin: "ignore",
    reject: false,
  });
  return { failed, stdout, stderr };
}

/** The same on this terminal; returns its exit code. */
export async function kubectlHere({ folder, binaries }: Reached, args: readonly string[]): Promise<number> {
  const options: Options = { env: { KUBECONFIG: kubeconfigPath(folder) }, stdio: "inherit", reject: false };
  return (await execa(binaries.hyperkube, ["kubectl", ...args], options)).exitCode ?? 1;
}
