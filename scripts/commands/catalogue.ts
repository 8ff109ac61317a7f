import { SYSTEMS } from "../../activities/systems/registry.ts";
import { loadSuite } from "../../benchmarks/load.ts";
import { SUITE_NAMES } from "../../benchmarks/registry.ts";
import type { Task } from "../../benchmarks/schema.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import type { CommonOptions } from "../cli/options.ts";
import { printRows } from "../cli/rows.ts";

export async function printSuites({ json }: CommonOptions): Promise<number> {
  const rows = await Promise.all(
    SUITE_NAMES.map(async (name) => {
      const { suite } = await loadSuite(name);
      const languages = [...new Set(suite.tasks.map((task) => task.language))].sort();
      return {
        suite: name,
        repositories: suite.tasks.length,
        languages: languages.join(", "),
        gold: suite.tasks.filter((task) => task.gold !== null).length,
        oracle: suite.tasks.filter((task) => task.oracle !== null).length,
        title: suite.title,
      };
    }),
  );
  printRows(rows, json);
  return 0;
}

export async function printSuite({ json }: CommonOptions, [action, name]: string[]): Promise<number> {
  if (action !== "show" || name === undefined)
    throw new UsageError("suites takes nothing, or: pnpm bench suites show NAME|FILE");
  const loaded = await loadSuite(name);
  const { suite } = loaded;
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...suite, digest: loaded.digest }, null, 2)}\n`);
    return 0;
  }
  process.stdout.write(`${suite.title}\nsource: ${suite.source}\n`);
  if (suite.license !== null) process.stdout.write(`licence: ${suite.license}\n`);
  for (const note of suite.notes) process.stdout.write(`note: ${note}\n`);
  process.stdout.write("\n");
  printRows(suite.tasks.map(rowOf), false);
  return 0;
}

function rowOf(task: Task) {
  return {
    repository: task.id,
    language: task.language,
    tier: task.tier,
    area: task.area,
    pinned: pinOf(task),
    gold: task.gold === null ? null : "count" in task.gold ? String(task.gold.count) : "ids",
    oracle: task.oracle === null ? null : "yes",
  };
}

function pinOf({ source }: Task): string {
  switch (source.kind) {
    case "git":
      return source.revision?.slice(0, 12) ?? "no";
    case "sdist":
      return source.version;
    case "archive":
      return source.sha256.slice(0, 12);
    case "directory":
      return "content";
  }
}

export async function printSystems({ json }: CommonOptions): Promise<number> {
  printRows(
    SYSTEMS.map(({ name, title, needsOracle, model }) => ({
      system: name,
      needs: needsOracle ? "a suite's recipe" : model === "required" ? "a model" : null,
      title,
    })),
    json,
  );
  return 0;
}
