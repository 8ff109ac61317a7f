import { z } from "zod";
import type { Role } from "../../model/role.ts";
import type { Ask } from "../distill/by-model.ts";
import type { Unit } from "../unit.ts";
import type { Judge } from "./judge.ts";

const said = z.object({
  patterns: z.array(z.string()),
  keywords: z.array(z.string()),
  advice: z.array(z.string()),
  atoms: z.string(),
});
const input = z.object({ known: said, incoming: said });
const output = z.object({
  same: z.boolean().describe("Whether both answer the same problem in the same way."),
  reason: z.string().describe("One sentence."),
});

const sameProblem: Role<z.infer<typeof input>, z.infer<typeof output>> = {
  name: "merger",
  input,
  output,
  instructions: `Two units of set-up experience are near each other. Say whether they are one: the same problem, met by the same \
message, with the same remedy. Two remedies for one problem are two units; one remedy in two wordings is one.`,
  render: ({ known, incoming }) => [
    { role: "user", content: `A: ${JSON.stringify(known)}\n\nB: ${JSON.stringify(incoming)}` },
  ],
};

/** A model decides whether two near units say the same. */
export function judgeByModel(ask: Ask): Judge {
  return (known, incoming) => ask(sameProblem, { known: brief(known), incoming: brief(incoming) });
}

function brief({ signals, advice_nl, atoms }: Unit): z.infer<typeof said> {
  const { regex: patterns, keywords } = signals;
  return { patterns, keywords, advice: advice_nl, atoms: JSON.stringify(atoms) };
}
