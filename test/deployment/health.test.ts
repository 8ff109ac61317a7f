import test from "ava";
import fc from "fast-check";
import { serveHealth } from "../../workers/health.ts";
import type { Workers } from "../../workers/worker.ts";

type State = ReturnType<Workers["states"]>[number]["state"];

const STATES: State[] = ["INITIALIZED", "RUNNING", "STOPPED", "STOPPING", "DRAINING", "DRAINED", "FAILED"];

test("alive unless a worker has failed, ready only when all run and the server answers", async (t) => {
  let states: State[] | null = null;
  let answers = true;
  const health = await serveHealth({ host: "127.0.0.1", port: 0 }, () => {
    const now = states;
    if (now === null) return null;
    return {
      run: () => Promise.resolve(),
      shutdown: () => undefined,
      states: () => now.map((state, index) => ({ queue: `queue-${index}`, state })),
      ping: () => (answers ? Promise.resolve() : Promise.reject(new Error("no server\nat all"))),
    };
  });
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  try {
    t.deepEqual(await ask("/readyz"), { status: 503, text: "starting\n" });
    t.deepEqual(await ask("/livez"), { status: 200, text: "ok\n" });
    answers = false;
    states = ["RUNNING"];
    const away = { status: 503, text: "Temporal does not answer: no server · at all\n" };
    t.deepEqual(await ask("/readyz"), away);
    answers = true;
    t.deepEqual(await ask("/readyz"), away, "the server is asked again only after a while");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 3 }), async (now) => {
        states = now;
        const [live, ready] = [await ask("/livez"), await ask("/readyz")];
        const failed = now.flatMap((state, index) => (state === "FAILED" ? [`queue-${index}`] : []));
        t.is(live.status, failed.length > 0 ? 503 : 200);
        if (failed.length > 0) t.is(live.text, `${failed.join(", ")}: FAILED\n`);
        t.is(ready.status, 503);
        if (now.some((state) => state !== "RUNNING")) t.regex(ready.text, /queue-\d: (?!RUNNING)/);
      }),
      { numRuns: 50 },
    );
  } finally {
    health.close();
  }
});
