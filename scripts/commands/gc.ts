import { counted } from "../../results/format.ts";
import { makeDeps } from "../../workers/deps.ts";
import type { CommonOptions } from "../cli/options.ts";
import { ensureStack } from "../stack/stack.ts";
import { connect } from "../sweep/client.ts";
import { reapOrphans } from "../sweep/reap.ts";

export async function collectGarbage(options: CommonOptions): Promise<number> {
  const service = await ensureStack({ ...options, tell: (line) => void process.stderr.write(`${line}\n`) });
  const reaped = await reapOrphans(await connect(service), makeDeps(options.state).driver("local"));
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ destroyed: reaped })}\n`
      : `${counted(reaped.length, "sandbox", "sandboxes")} without an owner destroyed\n`,
  );
  return 0;
}
