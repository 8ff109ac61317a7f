import { createHash } from "node:crypto";
import { canonicalJson } from "../../../benchmarks/canonical-json.ts";
import type { Step } from "../../store/trajectory.ts";
import type { Atom, Origin, Unit } from "../unit.ts";
import { type Repair, repairsOf } from "./repairs.ts";

/** One run that ended well, and the repository that it set up. */
export interface Lesson {
  repository: Origin;
  language: string;
  sweep: string;
  /** Cell and attempt. */
  run: string;
  steps: readonly Step[];
}

/** Units of what a run mended. Equal repairs have equal ids, in whichever run they were made. */
export function distillByRules(lesson: Lesson): Unit[] {
  const units = repairsOf(lesson.steps).flatMap((repair) => unitOf(repair, lesson) ?? []);
  return [...new Map(units.map((unit) => [unit.id, unit])).values()];
}

function unitOf(repair: Repair, { repository, language, sweep, run }: Lesson): Unit | null {
  const message = abstracted(repair.message);
  const remedies = repair.remedies.map(abstracted);
  // What names the repository is of no use to others, and would tell of it where it is measured.
  if ([message, ...remedies].some((text) => namesRepository(text, repository))) return null;
  const atoms = remedies.map(atomOf);
  const regex = patternOf(message);
  const hash = createHash("sha256").update(canonicalJson({ regex, atoms })).digest("hex");
  return {
    id: `distilled-${hash.slice(0, 16)}`,
    signals: {
      applicability: { lang: language, os: ["linux"], python: [], tools: toolsOf(repair.command) },
      regex: [regex],
      keywords: keywordsOf(message),
      situation_triggers: [`${toolsOf(repair.command)[0] ?? "a command"} fails: ${message}`],
    },
    advice_nl: [`What ended it: ${remedies.join("; then ")}.`],
    atoms,
    telemetry: { hits: 0, successes: 0, failures: 0 },
    provenance: { made: "distilled", repositories: [repository], sweep, run, from: [] },
  };
}

/** Without the places of one machine. */
function abstracted(text: string): string {
  return text
    .replaceAll(/\/workspace\/venv\/bin\/(pip3?|python3?)\b/g, "$1")
    .replaceAll(/\/workspace\/repo\/?/g, "./")
    .replaceAll(/\/tmp\/[\w./-]+/g, "/tmp");
}

/** Whether a text names the repository by any of its names, as a word of its own. */
export function namesRepository(text: string, { name, aliases }: Origin): boolean {
  const lower = text.toLowerCase();
  return [name, ...aliases].some((full) => {
    const bare =
      full
        .toLowerCase()
        .replace(/\.git$/, "")
        .split(/[/:]/)
        .at(-1) ?? "";
    const pattern = bare.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/[-_]/g, "[-_]?");
    return new RegExp(`(?<![a-z0-9])${pattern}(?![a-z0-9])`).test(lower);
  });
}

/** The message with numbers and paths left open. */
function patternOf(message: string): string {
  return message
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/(?<![\w/])(?:\\\.)?\/[\w/+-]+(?:\\\.[\w/+-]+)*/g, "\\S+")
    .replaceAll(/\d+(?:\\\.\d+)*/g, "[\\d.]+");
}

function keywordsOf(message: string): string[] {
  const words = message.match(/[A-Za-z][\w.-]{3,}/g) ?? [];
  return [...new Set(words)].slice(0, 6);
}

function toolsOf(command: string): string[] {
  const tools = command.match(/\b(?:pip|pytest|poetry|uv|pdm|tox|make|cmake|conda|npm)\b/g) ?? [];
  return [...new Set(tools)];
}

/** An atom where the command is plainly one, else the command itself. */
function atomOf(command: string): Atom {
  const pip =
    /^(?:python3? -m )?pip3? install ((?:[A-Za-z0-9][\w.-]*(?:\[[\w,-]+\])?(?:[<>=!~]=?[\w.*]+)? ?)+)$/.exec(
      command,
    );
  if (pip?.[1] !== undefined) return { name: "pip_install", args: { packages: pip[1].trim().split(" ") } };
  const apt =
    /^(?:apt-get update[^&;]*&& *)?(?:DEBIAN_FRONTEND=\w+ )?apt(?:-get)? install ((?:-\S+ )*)([a-z0-9][a-z0-9 .+-]*)$/.exec(
      command,
    );
  if (apt?.[2] !== undefined) {
    return {
      name: "apt_install",
      args: {
        packages: apt[2]
          .trim()
          .split(/ +/)
          .filter((word) => !word.startsWith("-")),
      },
    };
  }
  const variable = /^export ([A-Za-z_]\w*)=([\w./:-]*)$/.exec(command);
  if (variable !== null) return { name: "set_env", args: { key: variable[1], value: variable[2] } };
  return { name: "shell", args: { cmd: command } };
}
