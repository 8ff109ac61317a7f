import type { Command } from "commander";
import { STRUCTURED } from "../../benchmarks/model-plan.ts";
import { list } from "./lists.ts";
import { option, seconds } from "./options.ts";
import { number, wholeNumber } from "./values.ts";

/** What a sweep with models takes besides; a model of the file of `--models` has what it says there. */
export interface ModelOptions {
  model: string[];
  models?: string;
  modelUrl?: string;
  modelKeyEnv?: string;
  modelTemperature?: number;
  modelOutput: number;
  modelStructured: (typeof STRUCTURED)[number];
  modelParallel: number;
  modelSeconds: number;
  modelPatience: number;
  modelCache: boolean;
  runTokens?: number;
  runUsd?: number;
  sweepTokens?: number;
  sweepUsd?: number;
}

export function addModelOptions(command: Command): Command {
  return command
    .addOption(
      option("--model <names>", "models for the systems that take one, separated by commas")
        .argParser(list)
        .default([]),
    )
    .addOption(option("--models <file>", "YAML file of models and their endpoints (docs/models.md)"))
    .addOption(option("--model-url <url>", "OpenAI-compatible endpoint, else https://api.openai.com/v1"))
    .addOption(
      option(
        "--model-key-env <name>",
        "NAME of the variable that holds its key, else OPENAI_API_KEY or none",
      ),
    )
    .addOption(
      option("--model-temperature <n>", "temperature, else the endpoint's own").argParser(number(0, 2)),
    )
    .addOption(
      option("--model-output <tokens>", "output tokens of one call")
        .argParser(wholeNumber(1, 1e6))
        .default(8_192),
    )
    .addOption(
      option("--model-structured <form>", "how answers are held to a schema")
        .choices(STRUCTURED)
        .default("auto"),
    )
    .addOption(
      option("--model-parallel <n>", "calls in flight at one endpoint, at most")
        .argParser(wholeNumber(1, 1_000))
        .default(32),
    )
    .addOption(seconds("--model-seconds", "time of one call", 600))
    .addOption(seconds("--model-patience", "time that a call waits for a busy endpoint", 1_800))
    .addOption(option("--model-cache", "answer equal requests from the state folder").default(false))
    .addOption(option("--run-tokens <n>", "tokens of one run").argParser(wholeNumber(1, 1e12)))
    .addOption(option("--run-usd <dollars>", "cost of one run").argParser(number(1e-6, 1e6)))
    .addOption(option("--sweep-tokens <n>", "tokens of the sweep").argParser(wholeNumber(1, 1e15)))
    .addOption(option("--sweep-usd <dollars>", "cost of the sweep").argParser(number(1e-6, 1e9)));
}
