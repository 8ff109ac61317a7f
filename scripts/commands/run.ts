import type { Client } from "@temporalio/client";
import { workflowState } from "../../activities/reaper/ask.ts";
import { reapOrphans } from "../../activities/reaper/reap.ts";
import { addsArms, cellsOf } from "../../benchmarks/cells.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { counted } from "../../results/format.ts";
import { makeDeps } from "../../workers/deps.ts";
import type { SweepOptions } from "../cli/options.ts";
import { progressWriter } from "../cli/progress.ts";
import { checkReady } from "../stack/ready.ts";
import { checkAddress, ensureStack, markStackKept, whileKept } from "../stack/stack.ts";
import { attend } from "../sweep/attend.ts";
import { checkCapabilities, checkSandboxes } from "../sweep/capabilities.ts";
import { answered, changeParallel, connect, startSweep, unpauseInterrupted } from "../sweep/client.ts";
import { showDryRun } from "../sweep/dry-run.ts";
import { checkKeys, keyVariables } from "../sweep/models.ts";
import { resolveWish } from "../sweep/plan.ts";
import { type Draft, draftSweep, type Prepared, writeSweep } from "../sweep/prepare.ts";
import { ensureReaper } from "../sweep/reaper.ts";

/** `bench --suite …`: starts a sweep, or attaches to the one of the same id, and follows it to its table. */
export async function runSweep(options: SweepOptions): Promise<number> {
  const wish = await resolveWish(options);
  if (options.dryRun) return showDryRun(options, wish);
  const writer = progressWriter(process.stderr);
  const { endpoints } = wish.models;
  checkKeys(endpoints, options.workers);
  const stack = { ...options, keys: keyVariables(endpoints), tell: writer.tell };
  // A server that can't be used is said first: a base may take a minute.
  await checkAddress(stack);
  await checkReady(options.state, options.address, options.driver === "local");
  const draft = await draftSweep(options, wish, writer.tell);
  const service = await ensureStack(stack);
  const deps = makeDeps(options.state, service);
  const driver = deps.driver(draft.plan);
  await checkSandboxes(driver, draft, service.server);
  await checkCapabilities(driver, draft.plan);
  const { client, plan, folder, before, started } = await whileKept(stack, service, async () => {
    const client = await connect(service);
    await answered(() => refuseGrowing(client, draft));
    const written = await writeSweep(draft);
    await answered(() => reapOrphans(client, service.server, driver));
    await answered(() => ensureReaper(client, written.plan, deps.host));
    const started = await answered(() => startSweep(client, written.folder, written.plan));
    await answered(() => tellChanges(client, written));
    return { client, started, ...written };
  });
  const cells = cellsOf(plan).length;
  writer.tell(
    `sweep ${plan.sweep} ${before === null ? "started" : "goes on"}: ${counted(cells, "cell")}, results in ${folder}`,
  );
  if (options.detach) {
    await markStackKept(options.state, true);
    writer.tell(`it goes on in the background; follow it with \`pnpm bench watch ${plan.sweep}\``);
    if (options.json) process.stdout.write(`${JSON.stringify({ sweep: plan.sweep, folder, cells })}\n`);
    return 0;
  }
  return attend({ client, service, started, plan, folder, driver, options, writer });
}

/** What is asked otherwise now of a sweep that was there already. */
async function tellChanges(client: Client, { plan, before }: Prepared): Promise<void> {
  if (before === null) return;
  await unpauseInterrupted(client, plan.sweep);
  // A sweep that could pay for no more cells waits for this.
  const limits = (settings: typeof plan.settings) => JSON.stringify(settings.spending);
  if (limits(before.settings) !== limits(plan.settings))
    await client.workflow.getHandle(plan.sweep).signal("unpause");
  if (before.settings.parallel !== plan.settings.parallel)
    await changeParallel(client, plan.sweep, plan.settings.parallel);
}

/** The cells of a running sweep are counted through by number: new ones in between would shift them. */
async function refuseGrowing(client: Client, { plan, before }: Draft): Promise<void> {
  if (before === null || !addsArms(before.lock, plan.lock)) return;
  if ((await workflowState(client, plan.sweep)) !== "running") return;
  throw new UsageError(
    `--matrix ${plan.lock.matrix}: sweep ${plan.sweep} runs, and arms are added to one that has ended; wait, or \`pnpm bench cancel ${plan.sweep}\``,
  );
}
