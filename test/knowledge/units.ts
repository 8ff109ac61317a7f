import { type Unit, unitSchema } from "../../activities/knowledge/unit.ts";

/** A unit that says `keyword`, with what differs from an empty one. */
export function unitOf(id: string, keyword: string, more: Partial<Unit> = {}): Unit {
  const signals = {
    applicability: { lang: "python" },
    regex: [],
    keywords: [keyword],
    situation_triggers: [],
  };
  return unitSchema.parse({ id, signals, advice_nl: [`about ${keyword}`], atoms: [], ...more });
}
