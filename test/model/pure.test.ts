import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import fc from "fast-check";
import { z } from "zod";
import { jsonIn, parseAnswer } from "../../activities/model/answer.ts";
import { limiter } from "../../activities/model/limiter.ts";
import { knownPrice, priceTable } from "../../activities/model/prices.ts";
import { outputSchema, promptDigest } from "../../activities/model/role.ts";
import { costOf, usageOf } from "../../activities/model/usage.ts";
import { colour } from "./caller.ts";

const NEVER = new AbortController().signal;

test("a JSON object is found whatever stands around it", (t) => {
  const prose = fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[{}"]/g, ""));
  const value = fc.record({ a: fc.string(), b: fc.object({ maxDepth: 2 }) });
  fc.assert(
    fc.property(prose, value, prose, (before, object, after) => {
      const [found] = jsonIn(`${before}${JSON.stringify(object)}${after}`);
      t.deepEqual(found, JSON.parse(JSON.stringify(object)));
    }),
  );
});

test("of several objects the last that fits is the answer", (t) => {
  const schema = z.object({ a: z.number() });
  const text = 'first {"a": 1}, or {"b": {"a": 5}}, no: {"a": 2} and {"a": "x"} {';
  t.deepEqual(parseAnswer(schema, text), { ok: true, value: { a: 2 } });
  t.false(parseAnswer(schema, "[1, 2]").ok);
});

test("every price has a date and an address where it was read", async (t) => {
  for (const [name, price] of Object.entries((await priceTable()).models)) {
    t.notThrows(() => new URL(price.source), name);
    t.true(price.output > 0 && price.input > 0 && (price.cached ?? 0) <= price.input, name);
  }
});

test("a provider's prefix and a snapshot's date make no other model, and an unknown one has no price", async (t) => {
  const price = await knownPrice("gpt-5-mini");
  t.truthy(price);
  t.deepEqual(await knownPrice("openai/gpt-5-mini-2026-02-03"), price);
  t.is(await knownPrice("gpt-5-mini-of-mine"), null);
});

test("cached input and long requests have rates of their own", async (t) => {
  const price = await knownPrice("gpt-5.4");
  if (price === null) return t.fail();
  const cost = (input: number) => costOf({ input, cached: input / 2, output: 1_000, reasoning: 500 }, price);
  t.is(cost(200_000), (100_000 * 2.5 + 100_000 * 0.25 + 1_000 * 15) / 1e6);
  t.is(cost(300_000), (150_000 * 5 + 150_000 * 0.5 + 1_000 * 22.5) / 1e6);
});

test("usage is taken in either spelling, and what is not there is null", (t) => {
  t.is(usageOf(null), null);
  t.is(usageOf({ prompt_tokens: 3 }), null);
  t.deepEqual(usageOf({ prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 4 }), {
    input: 9,
    cached: 4,
    output: 2,
    reasoning: 0,
  });
});

test("a role's schema requires every field and takes no other; its digest changes with its words", (t) => {
  const schema = outputSchema(colour);
  t.deepEqual(schema.required, ["colour", "sure"]);
  t.is(schema.additionalProperties, false);
  t.not(promptDigest(colour), promptDigest({ ...colour, instructions: "Otherwise." }));
});

test("an endpoint is asked slowly at first, then more while all goes well, and never more than the ceiling", async (t) => {
  const one = limiter(6);
  t.is(one.limit(), 2);
  const limits = [];
  for (let call = 0; call < 12; call++) {
    (await one.acquire(NEVER)).succeeded();
    limits.push(one.limit());
  }
  t.deepEqual(limits, [2, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6]);
});

test("a burst of refusals cuts once and holds everybody back", async (t) => {
  const one = limiter(8);
  for (let call = 0; call < 20; call++) (await one.acquire(NEVER)).succeeded();
  const turns = await Promise.all(Array.from({ length: 8 }, () => one.acquire(NEVER)));
  for (const turn of turns) turn.overloaded(200);
  t.true(one.heldMs() > 100);
  t.is(one.limit(), 4);
  const from = performance.now();
  const next = await one.acquire(NEVER);
  t.true(performance.now() - from >= 190);
  next.overloaded(0);
  t.is(one.limit(), 2);
  for (let call = 0; call < 2; call++) (await one.acquire(NEVER)).succeeded();
  t.is(one.limit(), 3);
});

test("who stops waiting loses their turn and nobody else's", async (t) => {
  const one = limiter(1);
  const held = await one.acquire(NEVER);
  const leaving = new AbortController();
  const left = one.acquire(leaving.signal);
  const stays = one.acquire(NEVER);
  leaving.abort(new Error("left"));
  await t.throwsAsync(left, { message: "left" });
  held.release();
  held.release();
  const turn = await stays;
  const waiting = one.acquire(NEVER);
  const isFirst = await Promise.race([waiting.then(() => "second"), sleep(20).then(() => "first")]);
  t.is(isFirst, "first");
  turn.release();
  (await waiting).release();
});
