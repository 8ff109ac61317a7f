import test from "ava";
import { CausedError } from "../../activities/errors.ts";
import { readCalls } from "../../activities/model/journal.ts";
import { OverflowError, runRole } from "../../activities/model/run-role.ts";
import { spendingOf } from "../../activities/model/spending.ts";
import { colour, GREEN, policyOf, testCaller } from "./caller.ts";
import { modelServer, type Reply } from "./server.ts";

/** Asks once of a server that gives these replies in turn, then a good one. */
async function ask(replies: Reply[], changes: Parameters<typeof testCaller>[1] = {}) {
  const server = await modelServer(({ index }) => replies[index] ?? { text: GREEN });
  const { caller, remove } = await testCaller(server.url, changes);
  try {
    const from = performance.now();
    const result = await runRole(colour, { thing: "grass" }, policyOf(caller)).catch((error: Error) => error);
    const calls = await readCalls(caller.key);
    const spent = spendingOf(calls, caller.model.price);
    const seconds = (performance.now() - from) / 1_000;
    return { result, calls, spent, seconds, asked: server.asked };
  } finally {
    await server.close();
    await remove();
  }
}

function causeOf(result: unknown): string {
  return result instanceof CausedError ? result.failure : `no cause: ${result}`;
}

const NO_PATIENCE = { endpoint: { patience_seconds: 0 } };

test("a 429 is tried again when Retry-After says so, and not before", async (t) => {
  const { result, seconds, spent, asked } = await ask([
    { status: 429, error: { message: "slow down" }, headers: { "retry-after": "2" } },
  ]);
  t.deepEqual(result, { colour: "green", sure: true });
  t.is(asked.length, 2);
  t.true(seconds >= 2, `${seconds} s`);
  t.is(spent.unsettled_calls, 0);
});

test("a 429 without Retry-After is tried again as well", async (t) => {
  const { result, asked } = await ask([{ status: 429 }, { status: 429 }]);
  t.deepEqual(result, { colour: "green", sure: true });
  t.is(asked.length, 3);
});

test("a 429 whose Retry-After is beyond the patience ends as model_rate_limited at once", async (t) => {
  const { result, asked } = await ask([{ status: 429, headers: { "retry-after": "3600" } }]);
  t.is(causeOf(result), "model_rate_limited");
  t.is(asked.length, 1);
});

test("500, 503 and a 200 that is no JSON pass by themselves, else are model_unavailable", async (t) => {
  const { result } = await ask([{ status: 500 }, { status: 503, raw: "<html>busy</html>" }]);
  t.deepEqual(result, { colour: "green", sure: true });
  const stays = await ask([{ status: 500 }], NO_PATIENCE);
  t.is(causeOf(stays.result), "model_unavailable");
});

test("a stream that is cut is asked for again, and its first try counts as unsettled", async (t) => {
  for (const how of ["end", "destroy"] as const) {
    const { result, spent, asked } = await ask([{ cut: '{"colour": "bl', how }]);
    t.deepEqual(result, { colour: "green", sure: true }, how);
    t.is(asked.length, 2, how);
    t.is(spent.unsettled_calls, 1, how);
    t.true((spent.unsettled_usd ?? 0) > 0, how);
  }
});

test("an error and garbage in the middle of a stream are model_unavailable", async (t) => {
  const midStream = await ask([{ midStream: { message: "overloaded", type: "server_error" } }], NO_PATIENCE);
  t.is(causeOf(midStream.result), "model_unavailable");
  const garbled = await ask([{ garbled: "{not json" }], NO_PATIENCE);
  t.is(causeOf(garbled.result), "model_unavailable");
});

test("an answer that takes longer than the time of a call is model_unavailable", async (t) => {
  const { result, spent } = await ask([{ text: GREEN, afterMs: 1_500 }], {
    endpoint: { call_seconds: 0.5, patience_seconds: 0 },
  });
  t.is(causeOf(result), "model_unavailable");
  t.is(spent.unsettled_calls, 1);
});

test("a slow stream is waited for", async (t) => {
  const { result } = await ask([{ text: GREEN, afterMs: 300, pieceMs: 30 }]);
  t.deepEqual(result, { colour: "green", sure: true });
});

test("nobody listening is model_unavailable, and nothing of it counts as charged", async (t) => {
  const server = await modelServer(() => ({ text: GREEN }));
  await server.close();
  const { caller, remove } = await testCaller(server.url, NO_PATIENCE);
  const error = await t.throwsAsync(runRole(colour, { thing: "grass" }, policyOf(caller)));
  t.is(causeOf(error), "model_unavailable");
  t.is(spendingOf(await readCalls(caller.key), null).unsettled_calls, 0);
  await remove();
});

test("an answer of the wrong shape is mended in the same conversation", async (t) => {
  const { result, asked } = await ask([{ text: '{"colour": 3}' }, { text: "I think it is green." }]);
  t.deepEqual(result, { colour: "green", sure: true });
  t.regex(asked[1]?.body.messages.at(-1)?.content ?? "", /colour: .*string.*sure/s);
  t.regex(asked[2]?.body.messages.at(-1)?.content ?? "", /no JSON object/);
});

test("answers that stay wrong are model_refused_output after two repairs, and are paid for", async (t) => {
  const { result, asked, spent } = await ask(Array(5).fill({ text: "no" }));
  t.is(causeOf(result), "model_refused_output");
  t.is(asked.length, 3);
  t.deepEqual(spent.tokens.colour, { input: 300, cached: 120, output: 60, reasoning: 15 });
});

test("an answer that ended at the token limit is told so", async (t) => {
  const { asked } = await ask([{ text: '{"colour": "gre', finish: "length" }]);
  t.regex(asked[1]?.body.messages.at(-1)?.content ?? "", /ended at 1000 tokens/);
});

test("a refusal and a content filter are model_refused_output", async (t) => {
  const cases: Reply[] = [
    { refusal: "I can't help with that." },
    { text: "", finish: "content_filter" },
    { status: 400, error: { message: "filtered", code: "content_filter" } },
  ];
  for (const reply of cases) {
    const { result, asked } = await ask([reply]);
    t.is(causeOf(result), "model_refused_output", JSON.stringify(reply));
    t.is(asked.length, 1);
  }
});

test("a conversation that is too long is told apart, so that less can be asked", async (t) => {
  const { result, spent } = await ask([
    { status: 400, error: { message: "too long", code: "context_length_exceeded" } },
  ]);
  t.true(result instanceof OverflowError);
  t.is(spent.measured_usd, 0);
  t.is(spent.unmeasured_calls, 0);
});

test("a wrong key is credentials, an empty account quota_exhausted, an unknown model model_unavailable", async (t) => {
  const cases: [Reply, string][] = [
    [{ status: 401, error: { message: "bad key" } }, "credentials"],
    [{ status: 403, error: { message: "not yours" } }, "credentials"],
    [{ status: 402, error: { message: "pay" } }, "quota_exhausted"],
    [
      { status: 429, error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
      "quota_exhausted",
    ],
    [{ status: 404, error: { message: "no such model" } }, "model_unavailable"],
  ];
  for (const [reply, cause] of cases) {
    const { result, asked } = await ask([reply]);
    t.is(causeOf(result), cause);
    t.is(asked.length, 1);
  }
});

test("missing usage is unmeasured, never zero", async (t) => {
  const { spent } = await ask([{ text: GREEN, usage: null }]);
  t.deepEqual(spent.tokens, {});
  t.is(spent.unmeasured_calls, 1);
  t.is(spent.measured_usd, 0);
});

test("a model without a price is unmeasured, and its tokens are counted all the same", async (t) => {
  const { spent } = await ask([], { model: { price: null } });
  t.deepEqual(spent.tokens.colour, { input: 100, cached: 40, output: 20, reasoning: 5 });
  t.is(spent.unmeasured_calls, 1);
});

test("an endpoint that refuses one form of structured output is asked in the next, and remembered", async (t) => {
  const server = await modelServer(({ body }) => {
    if (body.response_format) return { status: 400, error: { message: "response_format is not supported" } };
    if (body.tools) return { tool: GREEN };
    return { text: "no" };
  });
  const { caller, remove } = await testCaller(server.url);
  t.deepEqual(await runRole(colour, { thing: "grass" }, policyOf(caller, 1)), {
    colour: "green",
    sure: true,
  });
  t.deepEqual(await runRole(colour, { thing: "grass" }, policyOf(caller, 2)), {
    colour: "green",
    sure: true,
  });
  t.is(server.asked.length, 3);
  await server.close();
  await remove();
});

test("an endpoint that knows no structured output gets the schema in words, and may think aloud", async (t) => {
  const server = await modelServer(({ body }) => {
    if (body.response_format || body.tools)
      return { status: 400, error: { message: "unknown field tools or response_format" } };
    return { text: `<think>{"colour": "?"}</think>\nHere it is:\n\`\`\`json\n${GREEN}\n\`\`\`` };
  });
  const { caller, remove } = await testCaller(server.url, { endpoint: { stream: false } });
  t.deepEqual(await runRole(colour, { thing: "grass" }, policyOf(caller)), { colour: "green", sure: true });
  t.regex(server.asked.at(-1)?.body.messages[0]?.content ?? "", /"sure"/);
  await server.close();
  await remove();
});
