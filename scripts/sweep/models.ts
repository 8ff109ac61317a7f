import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { knownPrice } from "../../activities/model/prices.ts";
import {
  type EndpointPlan,
  endpointPlan,
  type ModelPlan,
  modelPlan,
  modelPrice,
} from "../../benchmarks/model-plan.ts";
import { nearest } from "../../benchmarks/nearest.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { ModelOptions } from "../cli/model-options.ts";

const OPENAI = "https://api.openai.com/v1";

/** Stands for code that answers instead of a model, in `--model`. */
export const RULES = "rules";

/** One model of the file: what it leaves out is as the flags have it. */
const entry = z
  .strictObject({
    ...modelPlan.omit({ price: true }).shape,
    ...endpointPlan.shape,
    price: modelPrice,
  })
  .partial();

const file = z.strictObject({ models: z.record(z.string(), entry) });

export interface ResolvedModels {
  plans: Record<string, ModelPlan>;
  endpoints: Record<string, EndpointPlan>;
}

/** The models of `--model`, with what the flags and the file of `--models` say of them. Throws UsageError. */
export async function resolveModels(options: ModelOptions): Promise<ResolvedModels> {
  const known = options.models === undefined ? {} : await readModels(options.models);
  const resolved: ResolvedModels = { plans: {}, endpoints: {} };
  for (const name of new Set(options.model)) {
    if (name === RULES) continue;
    const said = known[name];
    if (said === undefined && options.models !== undefined && options.modelUrl === undefined) {
      const names = nearest(name, Object.keys(known)).join(", ");
      throw new UsageError(`--model ${name}: ${options.models} has no such model; nearest: ${names}`);
    }
    const endpoint = endpointOf(options, said ?? {});
    refuseSecrets(name, endpoint);
    resolved.endpoints[name] = endpoint;
    resolved.plans[name] = await planOf(name, options, said ?? {});
  }
  refuseUnpriced(options, resolved.plans);
  return resolved;
}

async function planOf(name: string, options: ModelOptions, said: z.infer<typeof entry>): Promise<ModelPlan> {
  const model = said.model ?? name;
  return {
    model,
    temperature: said.temperature === undefined ? (options.modelTemperature ?? null) : said.temperature,
    max_output_tokens: said.max_output_tokens ?? options.modelOutput,
    structured: said.structured ?? options.modelStructured,
    body: said.body ?? {},
    price: said.price ?? (await knownPrice(model)),
  };
}

function endpointOf(options: ModelOptions, said: z.infer<typeof entry>): EndpointPlan {
  const url = said.url ?? options.modelUrl ?? OPENAI;
  if (endpointPlan.shape.url.safeParse(url).error !== undefined) {
    throw new UsageError(`--model-url ${url}: must be an http or https address such as ${OPENAI}`);
  }
  const usual = url === OPENAI ? "OPENAI_API_KEY" : null;
  return {
    url,
    key_env: said.key_env === undefined ? (options.modelKeyEnv ?? usual) : said.key_env,
    headers: said.headers ?? {},
    call_seconds: said.call_seconds ?? options.modelSeconds,
    patience_seconds: said.patience_seconds ?? options.modelPatience,
    parallel: said.parallel ?? options.modelParallel,
    stream: said.stream ?? true,
  };
}

async function readModels(path: string): Promise<z.infer<typeof file>["models"]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--models ${path}: can't be read (${error.code}); name a file that can`);
  });
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new UsageError(`--models ${path}: ${(error as Error).message.split("\n", 1)[0]}`, { cause: error });
  }
  const { data, error } = file.safeParse(content);
  if (data !== undefined) return data.models;
  const [issue] = error.issues;
  throw new UsageError(
    `--models ${path}: ${issue?.path.join(".") || "top level"}: ${issue?.message}; see docs/models.md`,
  );
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** All of it is kept in sweep.json, and what is kept is shown. */
function refuseSecrets(name: string, { url, key_env, headers }: EndpointPlan): void {
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") {
    throw new UsageError(`model ${name}: its address holds a password; give a key's variable instead`);
  }
  if (key_env !== null && !VARIABLE.test(key_env)) {
    throw new UsageError(
      `model ${name}: --model-key-env takes the NAME of an environment variable, not a key; unset what was given and revoke it if it was one`,
    );
  }
  for (const [header, value] of Object.entries(headers)) {
    const isVariable = value.startsWith("$") && VARIABLE.test(value.slice(1));
    if (isVariable || !/auth|key|token|secret|cookie/i.test(header)) continue;
    throw new UsageError(
      `model ${name}: header ${header} must be $NAME, the environment variable that holds its value`,
    );
  }
}

/** A limit in money says nothing of calls that have no price. */
function refuseUnpriced(options: ModelOptions, plans: Record<string, ModelPlan>): void {
  const flag =
    options.runUsd !== undefined ? "--run-usd" : options.sweepUsd !== undefined ? "--sweep-usd" : null;
  const unpriced = Object.entries(plans).find(([, { price }]) => price === null);
  if (flag === null || unpriced === undefined) return;
  throw new UsageError(
    `${flag}: no price is known for ${unpriced[0]}; give one in the file of --models, or limit tokens instead`,
  );
}

/** The names of the variables that a sweep's calls need. */
export function keyVariables(endpoints: Record<string, EndpointPlan>): string[] {
  const names = Object.values(endpoints).flatMap(({ key_env, headers }) => [
    ...(key_env === null ? [] : [key_env]),
    ...Object.values(headers).flatMap((value) => (value.startsWith("$") ? [value.slice(1)] : [])),
  ]);
  return [...new Set(names)];
}

/** Throws UsageError when the worker that is to be started here would lack a key. */
export function checkKeys(endpoints: Record<string, EndpointPlan>, workers: "here" | "elsewhere"): void {
  const missing = keyVariables(endpoints).find((name) => !process.env[name]);
  if (workers === "elsewhere" || missing === undefined) return;
  throw new UsageError(`${missing}: the variable that holds a model's key is not set; set it and try again`);
}
