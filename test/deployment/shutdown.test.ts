import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { bindablePort } from "../../scripts/stack/port.ts";
import { testTemporal } from "../support/temporal.ts";

/** A worker with a child that was started after it, as an activity that fetches a repository starts one. */
function programOf(options: object): string {
  return `
    import { execa } from "execa";
    import { serve } from ${JSON.stringify(new URL("../../workers/serve.ts", import.meta.url).href)};
    setTimeout(() => execa("sleep", ["60"], { reject: false }), 0);
    await serve(${JSON.stringify(options)});
    process.exit(7);`;
}

test("a worker that is told to end while a command runs ends by itself, not by the signal", async (t) => {
  const { address, namespace } = await testTemporal();
  const state = await mkdtemp(join(tmpdir(), "setup-bench-shutdown-"));
  const health = { host: "127.0.0.1", port: await bindablePort("127.0.0.1", 0) };
  const program = programOf({
    ...{ state, address, namespace, server: "any", roles: ["host"], metrics: null, health },
    ...{ activities: 1, cachedWorkflows: 1, graceSeconds: 1 },
  });
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore" });
  const isReady = async () => {
    const answer = await fetch(`http://127.0.0.1:${health.port}/readyz`).catch(() => null);
    return answer?.ok ?? false;
  };
  while (!(await isReady())) await sleep(100);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  t.deepEqual(await ended, [7, null]);
  await rm(state, { recursive: true });
});
