import type { CommonOptions } from "../cli/options.ts";
import { checkReady } from "../stack/ready.ts";
import { ensureStack, markStackDown, markStackKept, stopStack, workerStatus } from "../stack/stack.ts";

export async function upCommand(options: CommonOptions): Promise<number> {
  await checkReady(options.state);
  const service = await ensureStack({ ...options, tell: (line) => void process.stderr.write(`${line}\n`) });
  await markStackKept(options.state, true);
  const worker = await workerStatus(options.state);
  const shown = { temporal: service.address, namespace: service.namespace, worker: worker?.pid ?? null };
  process.stdout.write(
    options.json
      ? `${JSON.stringify(shown)}\n`
      : `Temporal at ${shown.temporal}, worker ${shown.worker}; stop both with: pnpm bench down\n`,
  );
  return 0;
}

export async function downCommand(options: CommonOptions): Promise<number> {
  await markStackKept(options.state, false);
  if ((await workerStatus(options.state)) !== null) await markStackDown(options.state, true);
  const stopped = await stopStack(options.state);
  process.stdout.write(
    options.json
      ? `${JSON.stringify(stopped)}\n`
      : `worker ${stopped.worker ? "stopped" : "did not run"}, Temporal ${stopped.temporal ? "stopped" : "did not run"}\n`,
  );
  return 0;
}
