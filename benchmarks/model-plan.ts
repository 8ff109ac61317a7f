import { z } from "zod";

const count = z.int().positive();
const dollars = z.number().nonnegative();

const rates = {
  /** US dollars for a million tokens. */
  input: dollars,
  /** Input that the endpoint had in its cache; null: charged like other input. */
  cached: dollars.nullable(),
  /** Reasoning included. */
  output: dollars,
};

/** What a model's tokens cost, when that was read, and where. */
export const modelPrice = z.strictObject({
  ...rates,
  /** Other rates for requests with more input tokens than `above`. */
  long: z
    .strictObject({ above: count, ...rates })
    .nullable()
    .default(null),
  as_of: z.iso.date(),
  source: z.string().min(1),
});

export const STRUCTURED = ["auto", "json_schema", "tool", "plain"] as const;

/** What of a model decides results, under `lock` of a plan. Its key there is its name in arms. */
export const modelPlan = z.strictObject({
  /** Its name at the endpoint. */
  model: z.string().min(1),
  /** Null: not sent, so that the endpoint's own default holds (reasoning models take no other). */
  temperature: z.number().min(0).max(2).nullable(),
  max_output_tokens: count,
  /** How answers are held to a schema; `auto` takes the first form that the endpoint knows. */
  structured: z.enum(STRUCTURED),
  /** Further fields of each request, such as reasoning_effort. */
  body: z.record(z.string(), z.unknown()),
  /** Null: unknown, and then the cost of its calls is unmeasured. */
  price: modelPrice.nullable(),
});

/** Where a model is and how it is called, under `settings` of a plan: none of it may change what it answers. */
export const endpointPlan = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  /** Name of the environment variable that holds the key; null: the endpoint wants none. Never the key itself. */
  key_env: z.string().nullable(),
  /** A value `$NAME` stands for the environment variable NAME of the worker that calls. */
  headers: z.record(z.string(), z.string()),
  /** One call, from sending the request to the end of its answer. */
  call_seconds: z.number().positive(),
  /** How long one call is tried again while the endpoint is busy or away. */
  patience_seconds: z.number().nonnegative(),
  /** Calls in flight from one worker process, at most. */
  parallel: count,
  stream: z.boolean(),
});

/** Of all calls of a run or a sweep; null: no limit. Tokens are input and output together. */
export const spendingLimit = z.strictObject({
  usd: z.number().positive().nullable(),
  tokens: count.nullable(),
});

export type ModelPrice = z.infer<typeof modelPrice>;
export type ModelPlan = z.infer<typeof modelPlan>;
export type EndpointPlan = z.infer<typeof endpointPlan>;
export type SpendingLimit = z.infer<typeof spendingLimit>;
