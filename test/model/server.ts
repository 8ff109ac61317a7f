import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A request as it came over the wire. */
export interface Asked {
  body: Body;
  headers: IncomingMessage["headers"];
  /** In the order of arrival, from 0. */
  index: number;
}

interface Body {
  model: string;
  messages: { role: string; content: string }[];
  stream?: boolean;
  response_format?: { type: string };
  tools?: unknown[];
  temperature?: number;
}

interface UsageReport {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
  completion_tokens_details?: { reasoning_tokens: number };
}

/** What the server does with one request. */
export type Reply =
  /** `usage` null: none is reported. `afterMs`: before the first byte, `pieceMs` before each piece of a stream. */
  | { text: string; usage?: UsageReport | null; finish?: string; afterMs?: number; pieceMs?: number }
  | { tool: string; usage?: UsageReport | null }
  | { refusal: string }
  | { status: number; error?: Record<string, unknown>; headers?: Record<string, string>; raw?: string }
  /** A stream that ends in the middle: politely, or by a broken connection. */
  | { cut: string; how: "end" | "destroy" }
  /** An error in the middle of a stream. */
  | { midStream: Record<string, unknown> }
  /** A stream whose data is no JSON. */
  | { garbled: string };

export interface ModelServer {
  url: string;
  asked: Asked[];
  /** Most requests that were under way at the same time. */
  peak(): number;
  close(): Promise<void>;
}

export const USAGE: UsageReport = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

/** Speaks `/v1/chat/completions`; `answer` decides what becomes of each request. */
export async function modelServer(
  answer: (asked: Asked) => Reply | Promise<Reply>,
  port = 0,
): Promise<ModelServer> {
  const asked: Asked[] = [];
  let [underWay, peak] = [0, 0];
  const server = createServer((request, response) => {
    peak = Math.max(peak, ++underWay);
    response.once("close", () => underWay--);
    serve(request, response).catch((error: Error) => response.destroy(error));
  });
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== "/v1/chat/completions") return void response.writeHead(404).end("{}");
    let text = "";
    for await (const chunk of request) text += chunk;
    const one = { body: JSON.parse(text) as Body, headers: request.headers, index: asked.length };
    asked.push(one);
    await send(response, one.body, await answer(one));
  };
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    peak: () => peak,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function send(response: ServerResponse, { model, stream }: Body, reply: Reply): Promise<void> {
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    return void response.end(reply.raw ?? JSON.stringify({ error: reply.error ?? { message: "no" } }));
  }
  if ("text" in reply && reply.afterMs) await sleep(reply.afterMs);
  if (stream) return sendStream(response, model, reply);
  const { message, finish, usage } = wholeOf(reply);
  response.writeHead(200, { "content-type": "application/json" });
  const choice = { index: 0, message: { role: "assistant", ...message }, finish_reason: finish };
  response.end(JSON.stringify({ id: "c", object: "chat.completion", model, choices: [choice], ...usage }));
}

type Answering = Exclude<Reply, { status: number }>;

function wholeOf(reply: Answering): {
  message: Record<string, unknown>;
  finish: string;
  usage: { usage?: UsageReport };
} {
  const usage = "usage" in reply && reply.usage === null ? {} : { usage: usageIn(reply) };
  if ("text" in reply) return { message: { content: reply.text }, finish: reply.finish ?? "stop", usage };
  if ("refusal" in reply)
    return { message: { content: null, refusal: reply.refusal }, finish: "stop", usage };
  if ("tool" in reply) {
    const call = { index: 0, id: "t", type: "function", function: { name: "answer", arguments: reply.tool } };
    return { message: { content: null, tool_calls: [call] }, finish: "tool_calls", usage };
  }
  throw new Error("a reply for streams only");
}

function usageIn(reply: Answering): UsageReport {
  return ("usage" in reply && reply.usage) || USAGE;
}

async function sendStream(response: ServerResponse, model: string, reply: Answering): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const write = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  const piece = (delta: unknown, finish: string | null = null) =>
    write({
      id: "c",
      object: "chat.completion.chunk",
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  if ("cut" in reply) {
    piece({ content: reply.cut });
    await sleep(10);
    return void (reply.how === "end" ? response.end() : response.destroy());
  }
  if ("midStream" in reply) {
    piece({ content: "{" });
    write({ error: reply.midStream });
    return void response.end();
  }
  if ("garbled" in reply) {
    response.write(`data: ${reply.garbled}\n\n`);
    return void response.end();
  }
  const { message, finish, usage } = wholeOf(reply);
  const text = typeof message.content === "string" ? message.content : null;
  if (text === null) piece(message);
  for (const part of text?.match(/[\s\S]{1,7}/g) ?? []) {
    if ("text" in reply && reply.pieceMs) await sleep(reply.pieceMs);
    piece({ content: part });
  }
  piece({}, finish);
  if (usage.usage) write({ id: "c", object: "chat.completion.chunk", model, choices: [], ...usage });
  response.end("data: [DONE]\n\n");
}
