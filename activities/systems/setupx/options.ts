import { z } from "zod";
import { UsageError } from "../../../benchmarks/usage-error.ts";
import { PROFILES } from "../../knowledge/search/ranking.ts";
import type { AskedOptions, Variant } from "../system.ts";

const options = z.strictObject({
  /** Whether experience is asked at all. */
  xpu: z.boolean(),
  /** `selector`: a role of its own picks from ten; `direct`: the first three as they are ranked. */
  retriever: z.enum(["selector", "direct"]),
  /** Name of the base in the plan; empty without XPU. */
  knowledge: z.string(),
  /** Candidates that a try runs at the same time. */
  speculate: z.int().min(1).max(8),
  profile: z.enum(PROFILES),
});

export type SetupxOptions = z.infer<typeof options>;

export function optionsOf(given: Readonly<Record<string, unknown>>): SetupxOptions {
  return options.parse(given);
}

const DEFAULTS = { xpu: "on", retriever: "selector", knowledge: "seed", speculate: 1, profile: "default" };

/** One variant for each combination of what was asked for; where XPU is off, what only concerns it makes none. */
export function variants(asked: AskedOptions): Variant[] {
  const list = (name: keyof typeof DEFAULTS) => valuesOf(asked, name, DEFAULTS[name]);
  const all = list("xpu").flatMap((xpu) =>
    list("profile").flatMap((profile) => {
      if (xpu === "off") return [{ xpu, profile, retriever: "selector", knowledge: "", speculate: 1 }];
      return list("retriever").flatMap((retriever) =>
        list("knowledge").flatMap((knowledge) =>
          list("speculate").map((speculate) => ({ xpu, profile, retriever, knowledge, speculate })),
        ),
      );
    }),
  );
  return all.map((one) => ({
    suffix: suffixOf(one),
    options: checked({ ...one, xpu: one.xpu === "on", speculate: Number(one.speculate) }),
  }));
}

function valuesOf(asked: AskedOptions, name: string, usual: string | number): (string | number)[] {
  const value = asked[name];
  if (value === undefined) return [usual];
  const list = Array.isArray(value) ? value : [value];
  return list.length === 0 ? [usual] : [...new Set(list)];
}

/** Only what differs from the defaults is part of an arm's name. */
function suffixOf(one: Record<keyof typeof DEFAULTS, string | number>): string {
  const parts = [
    one.xpu === "off" ? "off" : "",
    one.retriever === "direct" ? "direct" : "",
    one.knowledge === "" || one.knowledge === "seed" ? "" : shortName(String(one.knowledge)),
    Number(one.speculate) > 1 ? `x${one.speculate}` : "",
    one.profile === "published" ? "published" : "",
  ];
  return parts
    .filter(Boolean)
    .map((part) => `+${part}`)
    .join("");
}

function shortName(knowledge: string): string {
  const last = knowledge.split("/").at(-1) ?? knowledge;
  return last
    .toLowerCase()
    .replace(/\.(jsonl|db)$/, "")
    .replaceAll(/[^a-z0-9._]+/g, "-");
}

function checked(given: Record<string, unknown>): SetupxOptions {
  const { data, error } = options.safeParse(given);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new UsageError(`--${issue?.path.join(".")}: ${issue?.message}; see docs/setupx.md`);
}
