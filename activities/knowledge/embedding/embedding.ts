import { UsageError } from "../../../benchmarks/usage-error.ts";
import { endpointEmbedding } from "./endpoint.ts";
import { LEXICAL_NAME, lexicalEmbedding } from "./lexical.ts";

/** Turns texts into vectors of length one. */
export interface Embedding {
  /** Says all that the vectors depend on: kind, model, version. Vectors of different names are never compared. */
  name: string;
  dimension: number;
  /** Cosine below which two texts have nothing to do with each other; differs widely between models. */
  minimum: number;
  /** Cosine from which two units may say the same. */
  duplicate: number;
  /** One vector a text, in order. Failures of a server carry a cause (CausedError). */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/**
 * The embedding of a name: `lexical-…` (see lexical.ts), or `openai:MODEL@DIMENSION` at the endpoint of OPENAI_BASE_URL
 * with the key of OPENAI_API_KEY. Throws UsageError.
 */
export function embeddingOf(name: string, environment: NodeJS.ProcessEnv = process.env): Embedding {
  if (name === LEXICAL_NAME || name === "lexical") return lexicalEmbedding;
  const match = /^openai:(.+)@(\d+)$/.exec(name);
  if (match?.[1] === undefined) {
    throw new UsageError(`embedding ${name}: must be lexical or openai:MODEL@DIMENSION`);
  }
  const url = environment.OPENAI_BASE_URL ?? "https://api.openai.com/v1";
  const key = environment.OPENAI_API_KEY ?? null;
  return endpointEmbedding({ url, key, model: match[1], dimension: Number(match[2]) });
}
