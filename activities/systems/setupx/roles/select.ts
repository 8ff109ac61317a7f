import { z } from "zod";
import type { Role } from "../../../model/role.ts";
import { selectByRules } from "../rules/select.ts";

const input = z.object({
  situation: z.string(),
  candidates: z.array(
    z.object({
      unit: z.string(),
      advice: z.array(z.string()),
      keywords: z.array(z.string()),
      /** The pattern of the unit that the situation matches, if one does. */
      pattern: z.string().nullable(),
      tools: z.array(z.string()),
      /** Whether there is anything to run. */
      runs: z.boolean(),
      similarity: z.number(),
      composite: z.number(),
      tier: z.enum(["golden", "normal", "cold"]),
      hits: z.int(),
      successes: z.int(),
      failures: z.int(),
    }),
  ),
  /** How many may be chosen. */
  most: z.int().positive(),
});

const output = z.object({
  selected: z
    .array(
      z.object({
        unit: z.string().describe("The id of one of the candidates."),
        reason: z.string().describe("Why it fits this situation, in one sentence."),
        confidence: z.number().describe("How sure it is, from 0 to 1."),
      }),
    )
    .describe("The best first; none if none fits."),
});

export type SelectInput = z.infer<typeof input>;
export type SelectOutput = z.infer<typeof output>;

/** SetupX's Selector: of what is near, what fits? Likeness is misled by words; whoever reads is not. */
export const select: Role<SelectInput, SelectOutput> = {
  name: "selector",
  input,
  output,
  instructions: `A set-up of a code repository failed, and a knowledge base was searched for like failures. Choose the units \
that answer this failure. Likeness of words is no proof: leave out what speaks of another cause, another tool or another \
language, and what is too vague to act on. Prefer what can be run and has helped before.`,
  render: ({ situation, candidates, most }) => {
    const lines = candidates.map(
      ({ unit, advice, similarity, composite, tier, hits, successes, failures, runs }) =>
        `${unit} (${tier}, likeness ${similarity.toFixed(3)}, rank ${composite.toFixed(3)}, returned ${hits}, helped ${successes}, did not ${failures}${runs ? "" : ", advice only"}): ${advice.join(" ")}`,
    );
    return [
      { role: "user", content: `${situation}\n\nUnits (choose at most ${most}):\n${lines.join("\n")}` },
    ];
  },
  rules: selectByRules,
};
