import { createHash } from "node:crypto";
import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import type { Role } from "../../model/role.ts";
import { parseAtom } from "../atoms/parse.ts";
import { compilePattern } from "../search/pattern.ts";
import type { Atom, Unit } from "../unit.ts";
import { type Lesson, namesRepository } from "./distill.ts";
import { type DistilledUnit, distiller } from "./role.ts";
import { commandsText, errorsText, lessonScore } from "./transcript.ts";

export type Ask = <I, O>(role: Role<I, O>, input: I) => Promise<O>;

const MOST_ADVICE = 7;

/**
 * What a model learns of a run: gate, extraction, proof, abstraction (the merge into a base is `absorb`). Of what it
 * says only that is taken which can be proven: patterns that match what the run printed, atoms that can be rendered, and
 * nothing that names the repository. Throws as `runRole` does.
 */
export async function distillByModel(lesson: Lesson, ask: Ask): Promise<Unit[]> {
  if (lessonScore(lesson.steps) === 0) return [];
  const { language, steps } = lesson;
  const commands = commandsText(steps);
  const answer = await ask(distiller, { language, commands, errors: errorsText(steps) });
  if (answer.decision === "skip") return [];
  const units = answer.units.flatMap((said) => provenUnit(said, lesson) ?? []);
  return [...new Map(units.map((unit) => [unit.id, unit])).values()];
}

function provenUnit(said: DistilledUnit, { repository, language, sweep, run, steps }: Lesson): Unit | null {
  const printed = steps
    .map(({ observation }) => `${observation?.stdout.text ?? ""}\n${observation?.stderr.text ?? ""}`)
    .join("\n");
  const regex = said.patterns.filter((pattern) => compilePattern(pattern)?.expression.test(printed) === true);
  const keywords = said.keywords.filter((word) => printed.toLowerCase().includes(word.toLowerCase()));
  const atoms = said.atoms.map(atomOf).filter((atom) => !("wrong" in parseAtom(atom)));
  const advice = said.advice.slice(0, MOST_ADVICE);
  const everything = [
    said.situation,
    ...regex,
    ...keywords,
    ...advice,
    ...atoms.map((atom) => JSON.stringify(atom)),
  ];
  if (regex.length === 0 && keywords.length === 0) return null;
  if (everything.some((text) => namesRepository(text, repository))) return null;
  const hash = createHash("sha256").update(canonicalJson({ regex, keywords, atoms, advice })).digest("hex");
  return {
    id: `distilled-${hash.slice(0, 16)}`,
    signals: {
      applicability: { lang: language, os: ["linux"], python: [], tools: said.tools },
      ...{ regex, keywords, situation_triggers: [said.situation] },
    },
    advice_nl: advice,
    atoms,
    telemetry: { hits: 0, successes: 0, failures: 0 },
    provenance: { made: "distilled", repositories: [repository], sweep, run, from: [] },
  };
}

/** The flat form that a model gives, as the atom's own arguments. */
function atomOf({ name, target, value }: DistilledUnit["atoms"][number]): Atom {
  const args: Record<string, Record<string, string>> = {
    apt_install: { packages: target },
    conda_install: { packages: target },
    npm_install: { packages: target },
    shell: { cmd: target },
    adjust_command: { modified_command: target },
    set_env: { key: target, value },
    set_umask: { value: value || target },
    set_pytest_flag: { name: target, ...(value && { value }) },
    set_django_setting: { key: target, value },
    or_upgrade_pkg: { name: target, ...(value && { min_version: value.replace(/^[<>=~! ]+/, "") }) },
  };
  return { name, args: args[name] ?? { name: target, ...(value && { spec: value }) } };
}
