import { z } from "zod";
import { quoteValue } from "../knowledge/atoms/quote.ts";

/** What holds for every later command of a root. */
export interface Values {
  environment: Record<string, string>;
  umask: string | null;
}

export const NO_VALUES: Values = { environment: {}, umask: null };

/** As they lie in the store; `$NAME` in a value stands for what the root has at that moment. */
const stored = z.strictObject({
  environment: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()),
  umask: z
    .string()
    .regex(/^0?[0-7]{3}$/)
    .nullable(),
});

export function renderValues(values: Values): string {
  return JSON.stringify(stored.parse(values));
}

export function parseValues(text: string): Values {
  return stored.parse(JSON.parse(text));
}

/** A command that prints what the values are once references in them are replaced, a line each, in base64. */
export function expansion({ environment }: Values): string {
  const lines = Object.values(environment).map(
    (value) => `printf %s ${quoteValue(value)} | base64 | tr -d '\\n'; echo`,
  );
  return ["set -e", ...lines].join("\n");
}

/** The values with what the command of `expansion` printed in their place. */
export function expanded({ environment, umask }: Values, printed: string): Values {
  const lines = printed.split("\n");
  const literal = Object.keys(environment).map((name, index) => [
    name,
    Buffer.from(lines[index] ?? "", "base64").toString("utf8"),
  ]);
  return { environment: Object.fromEntries(literal), umask };
}

export function overlaid(below: Values, above: Values): Values {
  return {
    environment: { ...below.environment, ...above.environment },
    umask: above.umask ?? below.umask,
  };
}
