import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { TEMPORAL } from "./doctor/check.ts";
import { diagnoseLocally } from "./doctor/diagnose.ts";
import { isFixable } from "./doctor/fix.ts";

async function checkWritable(state: string): Promise<void> {
  try {
    await mkdir(resolve(state), { recursive: true });
    await rm(await mkdtemp(resolve(state, ".probe-")), { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--state ${state}: can't be written (${code}); name another folder with --state`);
  }
}

/** Checks that count even where the sandboxes are elsewhere: sources are still fetched and packed here. */
const ALWAYS_NEEDED = ["node", "git", "tar", "disk space"];

/**
 * Throws UsageError, one line, when this machine lacks something without which no sweep can run; `sandboxesHere` says
 * whether it must be able to hold sandboxes itself.
 */
export async function checkReady(state: string, address?: string, sandboxesHere = true): Promise<void> {
  await checkWritable(state);
  const found = await diagnoseLocally({ stateFolder: state, temporalAddress: address });
  const checks = found.filter(({ name }) => sandboxesHere || ALWAYS_NEEDED.includes(name));
  // The Temporal CLI is installed on demand; python3, which that needs, is a check of its own.
  const missing = checks.filter((check) => check.state === "missing" && check.name !== TEMPORAL);
  if (missing.length === 0) return;
  const named = missing.map((check) => `${check.name} (${check.found})`).join(", ");
  const [only] = missing;
  const byFix = missing.some(isFixable);
  const remedy = byFix || !only?.remedy ? "pnpm bench doctor --fix" : only.remedy;
  throw new UsageError(`this machine is not ready: ${named}. Remedy: ${remedy}`);
}
