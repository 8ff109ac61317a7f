import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { ModelOptions } from "../../scripts/cli/model-options.ts";
import { armsOf } from "../../scripts/sweep/arms.ts";
import { checkKeys, keyVariables, resolveModels } from "../../scripts/sweep/models.ts";

function options(changes: Partial<ModelOptions>): ModelOptions {
  return {
    model: [],
    modelOutput: 1_000,
    modelStructured: "auto",
    modelParallel: 4,
    modelSeconds: 60,
    modelPatience: 60,
    modelCache: false,
    ...changes,
  };
}

async function withFile(content: unknown, work: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "setup-bench-models-"));
  const path = join(folder, "models.yaml");
  await writeFile(path, JSON.stringify(content));
  await work(path);
  await rm(folder, { recursive: true });
}

test("a known model needs its name alone", async (t) => {
  const { plans, endpoints } = await resolveModels(options({ model: ["gpt-5-mini"] }));
  t.is(plans["gpt-5-mini"]?.price?.output, 2);
  t.like(endpoints["gpt-5-mini"], { url: "https://api.openai.com/v1", key_env: "OPENAI_API_KEY" });
});

test("another endpoint gets no key that was not named for it", async (t) => {
  const modelUrl = "http://127.0.0.1:1/v1";
  const { plans, endpoints } = await resolveModels(options({ model: ["mine"], modelUrl }));
  t.is(endpoints.mine?.key_env, null);
  t.is(plans.mine?.price, null);
});

test("a file's entry goes before the flags, which fill what it leaves out", (t) =>
  withFile(
    { models: { fast: { model: "gpt-5-mini", url: "http://a/v1", key_env: null, parallel: 2 } } },
    async (models) => {
      const found = await resolveModels(options({ model: ["fast"], models, modelTemperature: 0.5 }));
      t.like(found.plans.fast, { model: "gpt-5-mini", temperature: 0.5, max_output_tokens: 1_000 });
      t.like(found.endpoints.fast, { url: "http://a/v1", parallel: 2, call_seconds: 60 });
    },
  ));

test("what is wrong is told with file, key and remedy, and never with a secret", async (t) => {
  const refused = async (changes: Partial<ModelOptions>, message: RegExp) => {
    const error = await t.throwsAsync(resolveModels(options({ model: ["m"], ...changes })), {
      instanceOf: UsageError,
      message,
    });
    t.notRegex(error?.message ?? "", /sk-1234|hunter2/);
  };
  await refused({ modelKeyEnv: "sk-1234" }, /takes the NAME of an environment variable/);
  await refused({ modelUrl: "http://me:hunter2@a/v1" }, /holds a password/);
  await refused({ modelUrl: "ftp://a" }, /--model-url ftp:\/\/a: must be an http or https address/);
  await refused({ runUsd: 1 }, /--run-usd: no price is known for m/);
  await refused({ models: "/nowhere.yaml" }, /--models \/nowhere\.yaml: can't be read/);
  await withFile({ models: { m: { headers: { "X-Api-Key": "hunter2" } } } }, (models) =>
    refused({ models }, /header X-Api-Key must be \$NAME/),
  );
  await withFile({ models: { m: { temprature: 1 } } }, (models) =>
    refused({ models }, /models\.m.*temprature/),
  );
  await withFile({ models: { mm: {} } }, (models) => refused({ models }, /has no such model; nearest: mm/));
});

test("a sweep names the variables that its calls need, and they must be set where the worker starts", async (t) => {
  const entry = {
    url: "http://a/v1",
    key_env: "TEST_KEY_UNSET",
    headers: { "x-token": "$TEST_TOKEN_UNSET" },
  };
  await withFile({ models: { m: entry } }, async (models) => {
    const { endpoints } = await resolveModels(options({ model: ["m"], models }));
    t.deepEqual(keyVariables(endpoints), ["TEST_KEY_UNSET", "TEST_TOKEN_UNSET"]);
    t.throws(() => checkKeys(endpoints, "here"), {
      instanceOf: UsageError,
      message: /^TEST_KEY_UNSET: .*not set/,
    });
    t.notThrows(() => checkKeys(endpoints, "elsewhere"));
  });
});

test("each model makes an arm of a system that takes one, with an id fit for folders", (t) => {
  t.deepEqual(
    armsOf(["react", "nop"], ["Org/Model:8b", "org-model-8b", "x"]).map(({ id, model }) => [id, model]),
    [
      ["react+org-model-8b", "Org/Model:8b"],
      ["react+org-model-8b-2", "org-model-8b"],
      ["react+x", "x"],
      ["nop", null],
    ],
  );
  t.throws(() => armsOf(["react"], []), { instanceOf: UsageError, message: /needs a model/ });
  t.throws(() => armsOf(["nop"], ["x"]), { instanceOf: UsageError, message: /none of nop takes a model/ });
  t.throws(() => armsOf(["react"], ["rules"]), { instanceOf: UsageError, message: /has no rules/ });
});
