import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../../benchmarks/canonical-json.ts";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/**
 * One kind of question, with typed input and output: what a system asks a model, or code, to decide.
 * Whoever answers is a policy: `openai` (any OpenAI-compatible endpoint) or `rules` (code over the same input).
 */
export interface Role<I, O> {
  /** Part of file names and the key of its tokens in records: lower-case letters, digits and dashes. */
  name: string;
  input: z.ZodType<I>;
  /** An object whose fields are all required: endpoints that hold answers to a schema take no other. */
  output: z.ZodType<O>;
  /** What never changes from call to call; its digest is part of a sweep's lock. */
  instructions: string;
  /** The messages after the instructions. They depend on nothing but the input. */
  render(input: I): Message[];
  /** The rules policy, where the role has one. */
  rules?: (input: I) => O | Promise<O>;
}

/** JSON schema of the role's output, as endpoints take it. */
export function outputSchema({ output }: Pick<Role<unknown, unknown>, "output">): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(output) as Record<string, unknown>;
  return schema;
}

/** What a change of a role's prompt changes: it tells sweeps apart that were asked differently. */
export function promptDigest(role: Pick<Role<unknown, unknown>, "instructions" | "output">): string {
  const content = canonicalJson({ instructions: role.instructions, output: outputSchema(role) });
  return createHash("sha256").update(content).digest("hex");
}
