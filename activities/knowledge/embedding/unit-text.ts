import type { Unit } from "../unit.ts";

/** What of a unit is embedded: where it applies, its keywords three times as loud, patterns, triggers, advice. */
export function unitText({ signals, advice_nl }: Unit): string {
  const { lang, tools, python, os } = signals.applicability;
  const keywords = signals.keywords.join(" ");
  return [
    [lang, ...tools, ...python, ...os].join(" "),
    keywords,
    keywords,
    keywords,
    ...signals.regex,
    ...signals.situation_triggers,
    ...advice_nl,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
