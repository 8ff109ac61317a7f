import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { appendEntry, nextTry, readCall, readCalls, unsettledTries } from "../../activities/model/journal.ts";
import { runRole } from "../../activities/model/run-role.ts";
import { spendingOf } from "../../activities/model/spending.ts";
import { colour, GREEN, policyOf, testCaller } from "./caller.ts";
import { type ModelServer, modelServer } from "./server.ts";

async function withServer(
  work: (server: ModelServer) => Promise<void>,
  answer: Parameters<typeof modelServer>[0] = () => ({ text: GREEN }),
): Promise<void> {
  const server = await modelServer(answer);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

test("a call that was settled is not made again", (t) =>
  withServer(async (server) => {
    const { caller, remove } = await testCaller(server.url);
    const first = await runRole(colour, { thing: "grass" }, policyOf(caller));
    const again = await runRole(colour, { thing: "grass" }, policyOf(caller));
    t.deepEqual(again, first);
    t.is(server.asked.length, 1);
    await remove();
  }));

test("a call whose process died after sending is made again, and priced apart", (t) =>
  withServer(async (server) => {
    const { caller, remove } = await testCaller(server.url);
    const policy = policyOf(caller);
    await runRole(colour, { thing: "grass" }, policy);
    const id = { role: "colour", step: 1, part: 0, n: 1 };
    const file = join(caller.key.folder, "runs/task--arm/1/calls/colour-0001-1.jsonl");
    const [intent = ""] = (await readFile(file, "utf8")).split("\n");
    const crashed = { ...caller, key: { ...caller.key, attempt: 2 } };
    await appendEntry(crashed.key, id, JSON.parse(intent));
    // The crash also cut a line.
    await appendFile(join(caller.key.folder, "runs/task--arm/2/calls/colour-0001-1.jsonl"), '{"event":"rec');
    await runRole(colour, { thing: "grass" }, policyOf(crashed));
    t.is(server.asked.length, 2);
    const entries = await readCall(crashed.key, id);
    t.deepEqual(
      entries.map((entry) => [entry.event, entry.try]),
      [
        ["intent", 1],
        ["intent", 2],
        ["receipt", 2],
      ],
    );
    t.is(unsettledTries(entries).length, 1);
    t.is(nextTry(entries), 3);
    const spent = spendingOf(await readCalls(crashed.key), caller.model.price);
    t.is(spent.unsettled_calls, 1);
    t.is(spent.unsettled_usd, spent.measured_usd);
    await remove();
  }));

test("a later process takes a refused form from the journal for what it was", (t) =>
  withServer(
    async (server) => {
      const { caller, remove } = await testCaller(server.url, { model: { model: "refuses-first" } });
      await runRole(colour, { thing: "grass" }, policyOf(caller));
      t.is(server.asked.length, 2);
      // This process now begins with tools, as another one would not.
      await runRole(colour, { thing: "grass" }, policyOf(caller));
      t.is(server.asked.length, 2);
      await remove();
    },
    ({ body }) =>
      body.response_format ? { status: 400, error: { message: "response_format unknown" } } : { tool: GREEN },
  ));

test("the texts of a conversation are in the store, each once", (t) =>
  withServer(async (server) => {
    const { caller, remove } = await testCaller(server.url);
    await runRole(colour, { thing: "grass" }, policyOf(caller));
    const [call] = await readCalls(caller.key);
    const intent = call?.entries.find((entry) => entry.event === "intent");
    const texts = [];
    for (const { digest } of intent?.messages ?? []) texts.push(String(await caller.blobs.get(digest)));
    t.deepEqual(texts, ["Say which colour a thing has.", "grass"]);
    await remove();
  }));

test("an equal request is answered from the cache when that is wanted, at no cost, but not for another repeat", (t) =>
  withServer(async (server) => {
    const { caller, remove } = await testCaller(server.url, { cache: true });
    await runRole(colour, { thing: "grass" }, policyOf(caller));
    const second = { ...caller, key: { ...caller.key, cell: "other--arm" } };
    await runRole(colour, { thing: "grass" }, policyOf(second));
    t.is(server.asked.length, 1);
    const spent = spendingOf(await readCalls(second.key), caller.model.price);
    t.is(spent.measured_usd, 0);
    t.deepEqual(spent.tokens.colour, { input: 100, cached: 40, output: 20, reasoning: 5 });
    const repeat = { ...caller, repeat: 2, key: { ...caller.key, cell: "third--arm" } };
    await runRole(colour, { thing: "grass" }, policyOf(repeat));
    t.is(server.asked.length, 2);
    await remove();
  }));

test("without the cache equal requests are asked each time", (t) =>
  withServer(async (server) => {
    const { caller, remove } = await testCaller(server.url);
    await runRole(colour, { thing: "grass" }, policyOf(caller));
    await runRole(colour, { thing: "grass" }, policyOf({ ...caller, key: { ...caller.key, attempt: 2 } }));
    t.is(server.asked.length, 2);
    await remove();
  }));

test("the rules policy answers the same role without a request", async (t) => {
  t.deepEqual(await runRole(colour, { thing: "grass" }, { kind: "rules" }), { colour: "green", sure: true });
});
