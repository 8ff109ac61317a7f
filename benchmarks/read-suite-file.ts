import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { folderName } from "./cells.ts";
import { type Selection, type Suite, selection, suite } from "./schema.ts";
import { UsageError } from "./usage-error.ts";

export type SuiteFile =
  | { kind: "suite"; suite: Suite; raw: Raw }
  | { kind: "selection"; selection: Selection; raw: Raw };

/** What the file says, before any default is filled in: the ground of the suite's digest. */
export type Raw = Record<string, unknown> & { tasks: unknown[] };

/** Reads and validates one suite file, JSON or YAML by its ending. Throws `UsageError`. */
export async function readSuiteFile(file: string): Promise<SuiteFile> {
  const raw = parseText(file, await readText(file));
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    throw new UsageError(`${file}: must hold one object with "suite", "title", "source" and "tasks"`);
  }
  if ("from" in raw) {
    return { kind: "selection", selection: validate(file, selection, raw), raw: raw as unknown as Raw };
  }
  const parsed = validate(file, suite, raw);
  refuseDuplicates(
    file,
    parsed.tasks.map(({ id }) => id),
  );
  return { kind: "suite", suite: parsed, raw: raw as unknown as Raw };
}

/**
 * Ids that would share a folder are duplicates as well: a slash becomes __ in its name, and case counts for nothing on
 * some file systems.
 */
export function refuseDuplicates(file: string, ids: readonly string[]): void {
  const seen = new Map<string, number>();
  for (const [index, id] of ids.entries()) {
    const name = folderName(id).toLowerCase();
    const first = seen.get(name);
    if (first !== undefined) {
      const why = ids[first]?.toLowerCase() === id.toLowerCase() ? "is already" : "shares its folder with";
      throw new UsageError(
        `${file}: tasks[${index}]: ${id} ${why} tasks[${first}]; remove or rename one of them`,
      );
    }
    seen.set(name, index);
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(
      `${file}: can't be read (${(error as NodeJS.ErrnoException).code}); check the path`,
      {
        cause: error,
      },
    );
  }
}

function parseText(file: string, text: string): unknown {
  try {
    const content: unknown = extname(file) === ".json" ? JSON.parse(text) : parse(text);
    // A YAML alias can lead back into itself.
    JSON.stringify(content);
    return content;
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw new UsageError(`${file}: not valid ${extname(file) === ".json" ? "JSON" : "YAML"}: ${line}`, {
      cause: error,
    });
  }
}

function validate<T>(file: string, schema: z.ZodType<T>, raw: unknown): T {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  // A misspelt key is also a missing one; the key that is there says more.
  const [issue, ...more] = result.error.issues.toSorted(
    (a, b) => Number(isUnknownKey(b)) - Number(isUnknownKey(a)),
  );
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  throw new UsageError(`${file}: ${issue ? describe(issue) : "not a valid suite"}${rest}`, {
    cause: result.error,
  });
}

function isUnknownKey(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueUnrecognizedKeys {
  return issue.code === "unrecognized_keys";
}

function describe(issue: z.core.$ZodIssue): string {
  if (isUnknownKey(issue)) {
    const [key] = issue.keys;
    const remedy = issue.path[0] === "tasks" ? "remove it, or put it under the task's facts" : "remove it";
    return `${z.core.toDotPath([...issue.path, key ?? ""])}: unknown key; ${remedy}`;
  }
  const said = issue.message.endsWith("received undefined") ? "is missing; add it" : issue.message;
  return `${z.core.toDotPath(issue.path) || "top level"}: ${said}`;
}
