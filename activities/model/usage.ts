import type { ModelPrice } from "../../benchmarks/model-plan.ts";

/** Tokens as endpoints count them: `cached` is a part of `input`, `reasoning` a part of `output`. */
export interface Usage {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

export const NO_USAGE: Usage = { input: 0, cached: 0, output: 0, reasoning: 0 };

interface Reported {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown } | null;
  completion_tokens_details?: { reasoning_tokens?: unknown } | null;
  /** DeepSeek's name for cached input. */
  prompt_cache_hit_tokens?: unknown;
}

/** Null when the endpoint did not report it: what was not measured is never taken for 0. */
export function usageOf(reported: unknown): Usage | null {
  if (typeof reported !== "object" || reported === null) return null;
  const usage = reported as Reported;
  const input = countOf(usage.prompt_tokens);
  const output = countOf(usage.completion_tokens);
  if (input === null || output === null) return null;
  const cached = countOf(usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens) ?? 0;
  const reasoning = countOf(usage.completion_tokens_details?.reasoning_tokens) ?? 0;
  return { input, cached: Math.min(cached, input), output, reasoning: Math.min(reasoning, output) };
}

function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cached: one.cached + other.cached,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}

/** US dollars of one call. */
export function costOf(usage: Usage, price: ModelPrice): number {
  const rates = price.long !== null && usage.input > price.long.above ? price.long : price;
  const fresh = (usage.input - usage.cached) * rates.input;
  return (fresh + usage.cached * (rates.cached ?? rates.input) + usage.output * rates.output) / 1e6;
}

/** A rough count where no endpoint counts: four characters to a token. Only for limits, never for records. */
export function estimatedTokens(characters: number): number {
  return Math.ceil(characters / 4);
}
