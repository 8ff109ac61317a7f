import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { execa } from "execa";
import type { BaseRecipe } from "../../activities/sandbox/base/made.ts";
import { fileBlobStore } from "../../activities/store/blobs.ts";
import { withLock } from "../../activities/store/lock.ts";
import { writePlan } from "../../activities/store/sweep-folder.ts";
import { addsArms, lockDifferences } from "../../benchmarks/cells.ts";
import type { SweepPlan } from "../../benchmarks/sweep-plan.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { SweepOptions } from "../cli/options.ts";
import { detectHostNetworkSettings, type HostNetworkSettings } from "../stack/host-network.ts";
import { makeArms } from "./arms.ts";
import { baseFor } from "./base.ts";
import { driverPlan } from "./driver-plan.ts";
import {
  checkSweepId,
  existingPlan,
  linkFolder,
  refuseForeign,
  refuseOtherPlace,
  sweepFolder,
} from "./folder.ts";
import { freshId, makePlan, type Wish } from "./plan.ts";
import { writeSweepFolder } from "./snapshot.ts";

/** A sweep as it is asked for; nothing of it is written yet. */
export interface Draft {
  plan: SweepPlan;
  folder: string;
  state: string;
  wish: Wish;
  /** The plan that is there already; null when the sweep is new. */
  before: SweepPlan | null;
}

export interface Prepared {
  plan: SweepPlan;
  folder: string;
  /** The plan that was there when the sweep goes on; null when it is new. */
  before: SweepPlan | null;
}

/**
 * Works out the sweep's plan, making its base if need be. Throws UsageError when its folder holds something else, or a
 * sweep that was asked for otherwise.
 */
export async function draftSweep(
  options: SweepOptions,
  wish: Wish,
  tell: (line: string) => void,
): Promise<Draft> {
  const id = options.id ?? freshId(wish.suite.suite.suite, new Date());
  checkSweepId(id);
  const folder = sweepFolder(options, id);
  await refuseForeign(folder);
  await refuseOtherPlace(options.state, id, folder);
  const before = await existingPlan(folder);
  refuseOther(folder, id, before);
  const network = detectHostNetworkSettings(process.env);
  const blobs = fileBlobStore(resolve(options.state, "blobs"));
  const arms = await makeArms(wish, blobs);
  const driver = await driverPlan(options);
  const base = await baseFor(driver, options.base, options.state, tell);
  const plan = makePlan(id, options, wish, {
    base: { request: options.base, digest: base.digest, location: base.location },
    ...withImage(base.recipe, network),
    driver,
    arms,
    harness: await harnessVersion(),
  });
  if (before !== null) refuseChanged(folder, before, plan);
  return { plan, folder, state: options.state, wish, before };
}

/**
 * Makes the sweep's folder, or goes on with the one that is there: changed settings (parallel, mirrors) are taken over,
 * anything else that changed is refused with the difference named.
 */
export async function writeSweep({ plan, folder, state, wish }: Draft): Promise<Prepared> {
  await linkFolder(state, plan.sweep, folder);
  // Of two that ask for one id at once, the second finds the first one's plan.
  return withLock(join(folder, ".lock"), () => writeOrCompare(folder, plan, wish));
}

async function writeOrCompare(folder: string, plan: SweepPlan, wish: Wish): Promise<Prepared> {
  const before = await existingPlan(folder);
  if (before === null) {
    await writeSweepFolder(folder, plan, wish.suite, wish.tasks);
    return { plan, folder, before: null };
  }
  refuseOther(folder, plan.sweep, before);
  refuseChanged(folder, before, plan);
  const lock = addsArms(before.lock, plan.lock) ? plan.lock : before.lock;
  const now = { ...before, lock, settings: plan.settings };
  await writePlan(folder, now);
  return { plan: now, folder, before };
}

function refuseChanged(folder: string, before: SweepPlan, plan: SweepPlan): void {
  const differences = lockDifferences(before.lock, plan.lock);
  if (differences.length === 0 || addsArms(before.lock, plan.lock)) return;
  throw new UsageError(
    `${join(folder, "sweep.json")}: sweep ${before.sweep} was started otherwise (${differences.slice(0, 3).join("; ")}` +
      `${differences.length > 3 ? `; ${differences.length - 3} more` : ""}); ask for the same, or take another --id`,
  );
}

function refuseOther(folder: string, id: string, plan: SweepPlan | null): void {
  if (plan === null || plan.sweep === id) return;
  throw new UsageError(
    `${folder}: holds the sweep ${plan.sweep}; name another folder with --out, or that --id`,
  );
}

/** A sweep's plan with its base where it is now: made again if it was removed or the state folder has moved. */
export async function withBase(
  plan: SweepPlan,
  folder: string,
  state: string,
  tell: (line: string) => void,
): Promise<SweepPlan> {
  const { driver } = plan.lock;
  if (driver === "local" && (await stat(plan.settings.base_location).catch(missing)) !== null) return plan;
  const where = { driver, engine: plan.settings.engine };
  const { digest, location } = await baseFor(where, plan.lock.base.request, state, tell);
  if (digest !== plan.lock.base.digest) {
    throw new UsageError(
      `--base ${plan.lock.base.request}: was ${plan.lock.base.digest} and is now ${digest}; start a new sweep`,
    );
  }
  const moved = { ...plan, settings: { ...plan.settings, base_location: location } };
  await writePlan(folder, moved);
  return moved;
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** An image's own variables (its PATH above all) are under every command, below what the host's network needs. */
function withImage(recipe: BaseRecipe, network: HostNetworkSettings): HostNetworkSettings {
  if (recipe.kind !== "image") return network;
  return { ...network, environment: { ...recipe.environment, ...network.environment } };
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
