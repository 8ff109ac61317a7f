import { z } from "zod";
import type { Cause } from "../../../results/causes.ts";
import { CausedError } from "../../errors.ts";
import type { Embedding } from "./embedding.ts";
import { normalised } from "./vector.ts";

export interface EndpointOptions {
  /** Base address, such as https://api.openai.com/v1. */
  url: string;
  key: string | null;
  model: string;
  dimension: number;
  /** In place of the global fetch, for those who count, record or limit calls. */
  fetch?: typeof fetch;
}

const answer = z.object({
  data: z.array(z.object({ index: z.int().nonnegative(), embedding: z.array(z.number()) })),
});

/** Texts of one request; servers refuse more than a few hundred. */
const BATCH = 96;
const TIMEOUT_MS = 60_000;

/** The `/embeddings` call that OpenAI and its like speak. It does not retry: who calls it knows the policy. */
export function endpointEmbedding(options: EndpointOptions): Embedding {
  const { model, dimension } = options;
  return {
    name: `openai:${model}@${dimension}`,
    dimension,
    minimum: 0.45,
    duplicate: 0.85,
    embed: async (texts, signal) => {
      const vectors: Float32Array[] = [];
      for (let start = 0; start < texts.length; start += BATCH) {
        vectors.push(...(await embedBatch(options, texts.slice(start, start + BATCH), signal)));
      }
      return vectors;
    },
  };
}

async function embedBatch(
  { url, key, model, dimension, fetch: call = fetch }: EndpointOptions,
  input: readonly string[],
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const where = `${url.replace(/\/+$/, "")}/embeddings`;
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  const body = JSON.stringify({ model, input, dimensions: dimension, encoding_format: "float" });
  let response: Response;
  let text: string;
  try {
    const limit = signal ? AbortSignal.any([signal, timeout]) : timeout;
    response = await call(where, { method: "POST", headers, body, signal: limit });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new CausedError("model_unavailable", `${where}: ${(error as Error).message}`, { cause: error });
  }
  if (!response.ok) {
    throw new CausedError(causeOf(response.status), `${where}: ${response.status} ${text.slice(0, 300)}`);
  }
  return vectorsOf(text, input.length, dimension, where);
}

function vectorsOf(text: string, count: number, dimension: number, where: string): Float32Array[] {
  let parsed: z.infer<typeof answer>;
  try {
    parsed = answer.parse(JSON.parse(text));
  } catch (error) {
    throw new CausedError("model_unavailable", `${where}: not an embeddings answer`, { cause: error });
  }
  const vectors = parsed.data
    .toSorted((a, b) => a.index - b.index)
    .map(({ embedding }) => normalised(Float32Array.from(embedding)));
  const wrong = vectors.find((vector) => vector.length !== dimension);
  if (wrong !== undefined || vectors.length !== count) {
    const got = `${vectors.length} vectors of ${wrong?.length ?? dimension} numbers`;
    throw new CausedError("model_unavailable", `${where}: ${got} for ${count} texts of ${dimension}`);
  }
  return vectors;
}

function causeOf(status: number): Cause {
  if (status === 401 || status === 403) return "credentials";
  if (status === 402) return "quota_exhausted";
  return status === 429 ? "model_rate_limited" : "model_unavailable";
}
