import type { z } from "zod";

export type Parsed<O> = { ok: true; value: O } | { ok: false; problem: string };

/** An answer's text as the role's output; `problem` is one sentence that a model can act on. */
export function parseAnswer<O>(output: z.ZodType<O>, text: string): Parsed<O> {
  const candidates = jsonIn(text);
  let problem = "it holds no JSON object";
  for (const candidate of candidates) {
    const { data, error } = output.safeParse(candidate);
    if (error === undefined) return { ok: true, value: data };
    problem = error.issues
      .slice(0, 3)
      .map((issue) => `${issue.path.join(".") || "the object"}: ${issue.message}`)
      .join("; ");
  }
  return { ok: false, problem };
}

/** The JSON objects of a text, the whole text first: models wrap them in fences and prose, and think aloud before. */
export function jsonIn(text: string): unknown[] {
  const whole = parsed(text);
  if (isObject(whole)) return [whole];
  const found: unknown[] = [];
  for (let from = text.indexOf("{"); from !== -1; ) {
    const end = objectEnd(text, from);
    const value = end === null ? undefined : parsed(text.slice(from, end));
    if (isObject(value)) found.unshift(value);
    from = text.indexOf("{", isObject(value) && end !== null ? end : from + 1);
  }
  return found;
}

/** Past the bracket that closes the one at `from`, quotes heeded; null when none does. */
function objectEnd(text: string, from: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
