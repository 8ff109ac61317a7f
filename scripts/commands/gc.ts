import { counted } from "../../results/format.ts";
import { makeDeps } from "../../workers/deps.ts";
import type { CommonOptions } from "../cli/options.ts";
import { ensureStack } from "../stack/stack.ts";
import { connect } from "../sweep/client.ts";
import { reapOrphans } from "../sweep/reap.ts";

export async function collectGarbage(options: CommonOptions): Promise<number> {
  const service = await ensureStack({ ...options, tell: (line) => void process.stderr.write(`${line}\n`) });
  const driver = makeDeps(options.state, service.server).driver("local");
  const { destroyed, left } = await reapOrphans(await connect(service), service.server, driver);
  if (options.json) process.stdout.write(`${JSON.stringify({ destroyed, left })}\n`);
  else {
    const lines = left.map(({ sandbox, why }) => `left ${sandbox}: ${why}\n`);
    const said = `${counted(destroyed.length, "sandbox", "sandboxes")} without an owner destroyed`;
    process.stdout.write(`${lines.join("")}${said}\n`);
  }
  return 0;
}
