import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "ava";
import { embeddingOf } from "../../activities/knowledge/embedding/embedding.ts";
import { endpointEmbedding } from "../../activities/knowledge/embedding/endpoint.ts";

interface Asked {
  path: string;
  authorization: string | undefined;
  body: { model: string; input: string[]; dimensions: number };
}

type Answer = (asked: Asked) => { status?: number; body: unknown };

/** A server that speaks the embeddings call; what it was asked is kept. */
async function serve(answer: Answer) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url = "", headers } = request;
    const one = {
      path: url,
      authorization: headers.authorization,
      body: JSON.parse(String(Buffer.concat(chunks))),
    };
    asked.push(one);
    const { status = 200, body } = answer(one);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, asked, close: () => void server.close() };
}

/** Vectors that tell the texts apart, in the wrong order. */
const REVERSED: Answer = ({ body }) => ({
  body: { data: body.input.map((text, index) => ({ index, embedding: [Number(text), 0, 4] })).reverse() },
});

test("texts go out in batches with the key, and vectors come back in order and of length one", async (t) => {
  const { url, asked, close } = await serve(REVERSED);
  const embedding = embeddingOf("openai:small@3", { OPENAI_BASE_URL: `${url}/`, OPENAI_API_KEY: "sk-x" });
  t.is(embedding.name, "openai:small@3");
  const texts = Array.from({ length: 100 }, (_, n) => String(n));
  const vectors = await embedding.embed(texts);
  t.deepEqual(
    asked.map(({ path, authorization, body }) => [
      path,
      authorization,
      body.model,
      body.dimensions,
      body.input.length,
    ]),
    [
      ["/v1/embeddings", "Bearer sk-x", "small", 3, 96],
      ["/v1/embeddings", "Bearer sk-x", "small", 3, 4],
    ],
  );
  t.is(vectors.length, 100);
  for (const n of [0, 3, 99]) {
    const length = Math.hypot(n, 4);
    t.true(Math.abs((vectors[n]?.[0] ?? 9) - n / length) < 1e-6, String(n));
  }
  close();
});

test("failures of a server have the cause that decides what becomes of them", async (t) => {
  const causes: [number, unknown, string][] = [
    [401, {}, "credentials"],
    [402, {}, "quota_exhausted"],
    [429, {}, "model_rate_limited"],
    [500, "oops", "model_unavailable"],
    [200, "not JSON", "model_unavailable"],
    [200, { data: [] }, "model_unavailable"],
    [200, { data: [{ index: 0, embedding: [1, 2] }] }, "model_unavailable"],
  ];
  for (const [status, body, cause] of causes) {
    const { url, close } = await serve(() => ({ status, body }));
    const embedding = endpointEmbedding({ url, key: "sk-secret", model: "m", dimension: 3 });
    const error = await t.throwsAsync(() => embedding.embed(["1"]), { name: "CausedError" });
    t.is((error as Error & { failure?: string })?.failure, cause, `${status} ${JSON.stringify(body)}`);
    t.false(error?.message.includes("sk-secret"));
    close();
  }
  const nobody = endpointEmbedding({ url: "http://127.0.0.1:9", key: null, model: "m", dimension: 3 });
  const error = await t.throwsAsync(() => nobody.embed(["1"]));
  t.is((error as Error & { failure?: string })?.failure, "model_unavailable");
});

test("who asks can stop the asking and can put a function of theirs in its place", async (t) => {
  const reason = new Error("stopped");
  const waiting = (async (_: unknown, init?: RequestInit) => {
    await new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  }) as unknown as typeof fetch;
  const embedding = endpointEmbedding({
    url: "http://x",
    key: null,
    model: "m",
    dimension: 3,
    fetch: waiting,
  });
  await t.throwsAsync(() => embedding.embed(["1"], AbortSignal.abort(reason)), { message: "stopped" });
  const controller = new AbortController();
  const asked = embedding.embed(["1"], controller.signal);
  controller.abort(reason);
  await t.throwsAsync(asked, { message: "stopped" });
});

test("a name that is no embedding's is refused", (t) => {
  t.throws(() => embeddingOf("openai:small"), { name: "UsageError", message: /openai:MODEL@DIMENSION/ });
  t.is(embeddingOf("lexical").name, "lexical-1@1024");
});
