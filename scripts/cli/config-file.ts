import { readFile } from "node:fs/promises";
import type { Command, Option } from "commander";
import { parse } from "yaml";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { commandsOf } from "./commands-of.ts";
import { listsFromFile } from "./lists.ts";

const DEFAULT_FILE = "bench.config.yaml";

/**
 * Takes defaults from a configuration file (BENCH_CONFIG, else bench.config.yaml if it is there): its keys are the
 * long names of options, its values what the command line would take. Called before the command line is parsed, so that
 * flags and BENCH_* variables go before.
 */
export async function applyConfigFile(program: Command): Promise<void> {
  const file = process.env.BENCH_CONFIG ?? DEFAULT_FILE;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && process.env.BENCH_CONFIG === undefined) return null;
    throw new UsageError(
      `${file}: can't be read (${error.code}); unset BENCH_CONFIG or name a readable file`,
    );
  });
  if (text === null) return;
  const content: unknown = parseYaml(file, text);
  if (content === null) return;
  if (typeof content !== "object" || Array.isArray(content))
    throw new UsageError(`${file}: must hold keys and values`);
  const commands = commandsOf(program);
  const settings = commands.flatMap(({ options }) => options).filter(({ envVar }) => envVar !== undefined);
  for (const [key, value] of Object.entries(content)) {
    const found = settings.find((option) => option.name() === key);
    if (found === undefined)
      throw new UsageError(`${file}: unknown key "${key}"; keys are the long names of flags`);
    const parsed = optionValue(file, found, value);
    for (const command of commands) {
      const takes = command.options.some((option) => option.name() === key);
      if (takes) command.setOptionValueWithSource(found.attributeName(), parsed, "config");
    }
  }
}

function optionValue(file: string, option: Option, value: unknown): unknown {
  if (option.isBoolean()) {
    if (typeof value !== "boolean") throw new UsageError(`${file}: ${option.name()} must be true or false`);
    return value;
  }
  const parts = Array.isArray(value) ? value.map(String) : [String(value)];
  if (option.argChoices !== undefined && !option.argChoices.includes(parts[0] ?? "")) {
    throw new UsageError(`${file}: ${option.name()} must be one of ${option.argChoices.join(", ")}`);
  }
  const { parseArg } = option;
  if (parseArg === undefined) return parts[0];
  try {
    let parsed: unknown = Array.isArray(option.defaultValue) ? [] : undefined;
    for (const part of parts) parsed = parseArg(part, parsed as never);
    if (Array.isArray(parsed)) listsFromFile.add(parsed);
    return parsed;
  } catch (error) {
    throw new UsageError(`${file}: ${option.name()}: ${(error as Error).message}`);
  }
}

function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message.split("\n", 1)[0]}`);
  }
}
