import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { execa } from "execa";
import type { BaseRecipe } from "../../activities/sandbox/base/made.ts";
import { parseBaseRequest, prepareBase } from "../../activities/sandbox/base/prepare.ts";
import { fileBlobStore } from "../../activities/store/blobs.ts";
import { readPlan } from "../../activities/store/sweep-folder.ts";
import { lockDifferences } from "../../benchmarks/cells.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { SweepOptions } from "../cli/options.ts";
import { detectHostNetworkSettings, type HostNetworkSettings } from "../stack/host-network.ts";
import { makeArms } from "./arms.ts";
import { freshId, makePlan, type Wish } from "./plan.ts";
import { writeSweepFolder } from "./snapshot.ts";

export interface Prepared {
  plan: SweepPlan;
  folder: string;
  /** False when the sweep was there already and goes on. */
  fresh: boolean;
}

/**
 * Makes the sweep's folder, or checks that the one of this id asks for the same thing: a changed suite, system, image
 * or option is refused with the difference named.
 */
export async function prepareSweep(
  options: SweepOptions,
  wish: Wish,
  tell: (line: string) => void,
): Promise<Prepared> {
  const id = options.id ?? freshId(wish.suite.suite.suite, new Date());
  const folder = sweepFolder(options, id);
  const base = await prepareBase(parseBaseRequest(options.base), {
    stateFolder: resolve(options.state),
    progress: tell,
  });
  const plan = makePlan(id, options, wish, {
    base: { request: options.base, digest: base.digest, location: base.location },
    ...withImage(base.recipe, detectHostNetworkSettings(process.env)),
    arms: await makeArms(
      wish.systems,
      options.script,
      wish.tasks,
      fileBlobStore(resolve(options.state, "blobs")),
    ),
    harness: await harnessVersion(),
  });
  const before = await existingPlan(folder);
  if (before === null) {
    await writeSweepFolder(folder, plan, wish.suite, wish.tasks);
    return { plan, folder, fresh: true };
  }
  const differences = lockDifferences(before.lock, plan.lock);
  if (differences.length > 0) {
    throw new UsageError(
      `${join(folder, "sweep.json")}: sweep ${id} was started otherwise (${differences.slice(0, 3).join("; ")}` +
        `${differences.length > 3 ? `; ${differences.length - 3} more` : ""}); ask for the same, or take another --id`,
    );
  }
  return { plan: before, folder, fresh: false };
}

/** An image's own variables (its PATH above all) are under every command, below what the host's network needs. */
function withImage(recipe: BaseRecipe, network: HostNetworkSettings): HostNetworkSettings {
  if (recipe.kind !== "image") return network;
  return { ...network, environment: { ...recipe.environment, ...network.environment } };
}

export function sweepFolder(options: { state: string; out?: string }, id: string): string {
  return resolve(options.out ?? join(options.state, "sweeps", id));
}

export async function existingPlan(folder: string): Promise<SweepPlan | null> {
  const found = await stat(join(folder, "sweep.json")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return found && readPlan(folder);
}

/** The package's version and, in a checkout, its commit (with `+` when files were changed since). */
async function harnessVersion(): Promise<{ version: string; commit: string | null }> {
  const root = new URL("../../", import.meta.url);
  const { version } = JSON.parse(await readFile(new URL("package.json", root), "utf8")) as {
    version: string;
  };
  const git = await execa("git", ["describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"], {
    cwd: root,
    reject: false,
  });
  return { version, commit: git.exitCode === 0 ? git.stdout : null };
}
