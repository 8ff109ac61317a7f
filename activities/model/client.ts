import OpenAI from "openai";
import { EnvHttpProxyAgent, fetch as undiciFetch } from "undici";
import type { EndpointPlan } from "../../benchmarks/model-plan.ts";
import { CausedError } from "../errors.ts";
import { type Usage, usageOf } from "./usage.ts";

export interface Completion {
  /** The answer's text, or the arguments of its tool call. */
  text: string;
  /** The answer ended at the limit of output tokens. */
  cut: boolean;
  /** The model's or its filter's own words when it refuses; else null. */
  refusal: string | null;
  usage: Usage | null;
}

/** The stream ended before the answer did. */
export class CutStreamError extends Error {
  override readonly name = "CutStreamError";
}

/** What both forms of an answer, whole or a piece of a stream, have in common. */
interface Piece {
  choices?: {
    delta?: Delta | null;
    message?: Delta | null;
    finish_reason?: string | null;
  }[];
  usage?: unknown;
}

interface Delta {
  content?: string | null;
  refusal?: string | null;
  tool_calls?: { index?: number; function?: { arguments?: string } }[] | null;
}

let agent: EnvHttpProxyAgent | undefined;

/** One request, once: nothing is tried again here. Throws what the endpoint or the network throws. */
export async function complete(
  endpoint: EndpointPlan,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Completion> {
  const client = clientOf(endpoint);
  const within = AbortSignal.any([signal, AbortSignal.timeout(endpoint.call_seconds * 1_000)]);
  const options = { signal: within, maxRetries: 0, timeout: endpoint.call_seconds * 1_000 };
  const path = "/chat/completions";
  if (!endpoint.stream) {
    const whole = await client.post<Piece>(path, { ...options, body });
    return gathered([whole]);
  }
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
  const stream = await client.post<AsyncIterable<Piece>>(path, { ...options, body: streamed, stream: true });
  const pieces: Piece[] = [];
  for await (const piece of stream as AsyncIterable<Piece>) pieces.push(piece);
  // The library ends an aborted stream as if it were whole.
  within.throwIfAborted();
  return gathered(pieces);
}

function gathered(pieces: readonly Piece[]): Completion {
  let [text, refusal, tool, finish]: [string, string, string, string | null] = ["", "", "", null];
  let usage: Usage | null = null;
  for (const piece of pieces) {
    usage = usageOf(piece.usage) ?? usage;
    const choice = piece.choices?.[0];
    const delta = choice?.delta ?? choice?.message;
    text += delta?.content ?? "";
    refusal += delta?.refusal ?? "";
    // Only the first tool call counts: one was asked for.
    for (const call of delta?.tool_calls ?? []) {
      if ((call.index ?? 0) === 0) tool += call.function?.arguments ?? "";
    }
    finish = choice?.finish_reason ?? finish;
  }
  if (finish === null) throw new CutStreamError("the answer broke off before its end");
  const filtered = finish === "content_filter" ? "the endpoint's content filter held the answer back" : "";
  return { text: tool || text, cut: finish === "length", refusal: refusal || filtered || null, usage };
}

/** Keys are looked up at each call, in this process's environment, and kept nowhere. */
function clientOf(endpoint: EndpointPlan): OpenAI {
  const key = endpoint.key_env === null ? null : variable(endpoint.key_env, "key");
  return new OpenAI({
    baseURL: endpoint.url,
    apiKey: key ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: fetchPatiently as unknown as NonNullable<ConstructorParameters<typeof OpenAI>[0]>["fetch"],
    defaultHeaders: { ...(key === null ? { authorization: null } : {}), ...headersOf(endpoint) },
  } as ConstructorParameters<typeof OpenAI>[0]);
}

/** Without the library's own time limits of five minutes, which a slow model's first word may take. */
function fetchPatiently(url: string, init: Record<string, unknown>) {
  agent ??= new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 });
  return undiciFetch(url, { ...init, dispatcher: agent });
}

function headersOf({ headers }: EndpointPlan): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.startsWith("$") ? variable(value.slice(1), `header ${name}`) : value,
    ]),
  );
}

function variable(name: string, what: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new CausedError(
    "credentials",
    `${what}: the variable ${name} is not set where the worker runs; set it there and go on with: bench resume`,
  );
}

/** The text with every secret of the endpoint taken out: endpoints repeat keys in their messages. */
export function withoutSecrets(text: string, { key_env, headers }: EndpointPlan): string {
  const names = Object.values(headers).flatMap((value) => (value.startsWith("$") ? [value.slice(1)] : []));
  let clean = text;
  for (const name of [...(key_env === null ? [] : [key_env]), ...names]) {
    const secret = process.env[name];
    if (secret) clean = clean.replaceAll(secret, `[${name}]`);
  }
  return clean;
}
