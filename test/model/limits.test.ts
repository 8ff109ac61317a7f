import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { noteSpending, spentSoFar } from "../../activities/model/ledger.ts";
import { refusalOfCell } from "../../activities/model/limits.ts";
import { runRole } from "../../activities/model/run-role.ts";
import { colour, GREEN, policyOf, testCaller } from "./caller.ts";
import { modelServer } from "./server.ts";

/** 60 fresh, 40 cached, 20 output tokens at 1, 0.1 and 10 dollars a million. */
const CALL_USD = (60 + 4 + 200) / 1e6;

test("a run's limit ends it as agent_budget, one call over at most, and reused calls do not count twice", async (t) => {
  const server = await modelServer(() => ({ text: GREEN }));
  const { caller, remove } = await testCaller(server.url, { limits: { run: { tokens: 300 } } });
  const made: string[] = [];
  for (let step = 1; step <= 5; step++) {
    for (let again = 0; again < 2; again++) {
      const result = await runRole(colour, { thing: "grass" }, policyOf(caller, step)).catch(
        (error) => error,
      );
      made.push(result instanceof CausedError ? result.failure : "answer");
    }
  }
  // Three calls of 120 tokens pass the limit of 300; each is reused once.
  t.deepEqual(made, [...Array(6).fill("answer"), ...Array(4).fill("agent_budget")]);
  t.is(server.asked.length, 3);
  await server.close();
  await remove();
});

test("a sweep's limit stops the runs of all cells as quota_exhausted", async (t) => {
  const server = await modelServer(() => ({ text: GREEN }));
  const { caller, remove } = await testCaller(server.url, { limits: { sweep: { usd: CALL_USD * 1.5 } } });
  const other = { ...caller, key: { ...caller.key, cell: "other--arm" } };
  await runRole(colour, { thing: "grass" }, policyOf(caller));
  await runRole(colour, { thing: "grass" }, policyOf(other));
  const error = await t.throwsAsync(runRole(colour, { thing: "grass" }, policyOf(caller, 2)), {
    instanceOf: CausedError,
  });
  t.is(error?.failure, "quota_exhausted");
  const { sweep } = await spentSoFar(caller.key.folder);
  t.true(Math.abs(sweep.usd - 2 * CALL_USD) < 1e-12);
  await server.close();
  await remove();
});

test("what an endpoint does not report is estimated for limits", async (t) => {
  const server = await modelServer(() => ({ text: GREEN, usage: null }));
  const { caller, remove } = await testCaller(server.url, { limits: { run: { tokens: 10 } } });
  await runRole(colour, { thing: "grass" }, policyOf(caller));
  const error = await t.throwsAsync(runRole(colour, { thing: "grass" }, policyOf(caller, 2)), {
    instanceOf: CausedError,
  });
  t.is(error?.failure, "agent_budget");
  await server.close();
  await remove();
});

test("a new cell is refused when it, with the running ones, may pass the sweep's limit", async (t) => {
  const { caller, remove } = await testCaller("http://127.0.0.1:1/v1", {
    limits: { run: { usd: 1 }, sweep: { usd: 3 } },
  });
  const { folder } = caller.key;
  t.is(await refusalOfCell(folder, caller.sweep, []), null);
  t.is(await refusalOfCell(folder, caller.sweep, ["a", "b"]), null);
  t.regex((await refusalOfCell(folder, caller.sweep, ["a", "b", "c"])) ?? "", /can't pay for another cell/);
  // One has ended cheaply, so there is room again.
  await noteSpending(folder, { run: "a/1", id: "x", usd: 0.1, tokens: 1 });
  await noteSpending(folder, { run: "a/1", id: "x", usd: 0.1, tokens: 1 });
  t.is(await refusalOfCell(folder, caller.sweep, ["b"]), null);
  t.regex((await refusalOfCell(folder, caller.sweep, ["b", "c"])) ?? "", /\$0\.1000 of \$3\.0000 used/);
  await remove();
});

test("without a run's limit a cell is taken to need what ended ones took", async (t) => {
  const { caller, remove } = await testCaller("http://127.0.0.1:1/v1", {
    limits: { sweep: { tokens: 1_000 } },
  });
  const { folder } = caller.key;
  t.is(await refusalOfCell(folder, caller.sweep, []), null);
  await noteSpending(folder, { run: "a/1", id: "x", usd: null, tokens: 400 });
  t.is(await refusalOfCell(folder, caller.sweep, []), null);
  t.regex((await refusalOfCell(folder, caller.sweep, ["b"])) ?? "", /400 tokens of 1000 tokens used/);
  await remove();
});

test("a key is sent, and found nowhere in what is written, even when the endpoint repeats it", async (t) => {
  process.env.TEST_MODEL_KEY = "planted-key-4711";
  process.env.TEST_MODEL_TOKEN = "planted-token-4712";
  const server = await modelServer(({ headers }) => ({
    status: 401,
    error: { message: `Incorrect key: ${headers.authorization} ${headers["x-token"]}` },
  }));
  const { caller, remove } = await testCaller(server.url, {
    endpoint: { key_env: "TEST_MODEL_KEY", headers: { "x-token": "$TEST_MODEL_TOKEN" } },
  });
  const error = await t.throwsAsync(runRole(colour, { thing: "grass" }, policyOf(caller)));
  t.is(server.asked[0]?.headers.authorization, "Bearer planted-key-4711");
  t.is(server.asked[0]?.headers["x-token"], "planted-token-4712");
  t.regex(error?.message ?? "", /\[TEST_MODEL_KEY\] \[TEST_MODEL_TOKEN\]/);
  for (const name of await readdir(caller.stateFolder, { recursive: true })) {
    const text = await readFile(join(caller.stateFolder, name), "utf8").catch(() => "");
    t.notRegex(text, /planted/, name);
  }
  await server.close();
  await remove();
});

test("a key that is not set where the call is made is credentials, and nothing is sent", async (t) => {
  const server = await modelServer(() => ({ text: GREEN }));
  const { caller, remove } = await testCaller(server.url, { endpoint: { key_env: "TEST_MODEL_UNSET" } });
  const error = await t.throwsAsync(runRole(colour, { thing: "grass" }, policyOf(caller)), {
    instanceOf: CausedError,
  });
  t.is(error?.failure, "credentials");
  t.regex(error?.message ?? "", /TEST_MODEL_UNSET is not set/);
  t.is(server.asked.length, 0);
  await server.close();
  await remove();
});

test("without a key none is sent", async (t) => {
  process.env.OPENAI_API_KEY = "planted-default";
  const server = await modelServer(() => ({ text: GREEN }));
  const { caller, remove } = await testCaller(server.url);
  await runRole(colour, { thing: "grass" }, policyOf(caller));
  t.is(server.asked[0]?.headers.authorization, undefined);
  await server.close();
  await remove();
});
