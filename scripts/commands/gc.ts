import { resolve } from "node:path";
import { reapOrphans } from "../../activities/reaper/reap.ts";
import { counted } from "../../results/format.ts";
import { makeDeps } from "../../workers/deps.ts";
import { makeDriver } from "../../workers/drivers.ts";
import type { CommonOptions, DriverOptions } from "../cli/options.ts";
import { ensureStack } from "../stack/stack.ts";
import { connect } from "../sweep/client.ts";
import { driverPlan } from "../sweep/driver-plan.ts";

export async function collectGarbage(options: CommonOptions & DriverOptions): Promise<number> {
  const service = await ensureStack({ ...options, tell: (line) => void process.stderr.write(`${line}\n`) });
  const stateFolder = resolve(options.state);
  const { host } = makeDeps(stateFolder, service);
  const driver = makeDriver(
    { ...(await driverPlan(options)), image: null },
    { stateFolder, host, server: service.server },
  );
  const { destroyed, left } = await reapOrphans(await connect(service), service.server, driver);
  if (options.json) process.stdout.write(`${JSON.stringify({ destroyed, left })}\n`);
  else {
    const lines = left.map(({ sandbox, why }) => `left ${sandbox}: ${why}\n`);
    const said = `${counted(destroyed.length, "sandbox", "sandboxes")} without an owner destroyed`;
    process.stdout.write(`${lines.join("")}${said}\n`);
  }
  return 0;
}
