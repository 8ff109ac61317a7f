import type { Atom } from "../unit.ts";
import { djangoSettingCommand, OVERLAY_MODULE } from "./django-setting.ts";
import { type Captures, fillAtom, placeholdersOf } from "./fill.ts";
import { type ParsedAtom, parseAtom } from "./parse.ts";
import { quote, quoteValue } from "./quote.ts";
import { pipArguments, specifier } from "./requirement.ts";

/** What a unit's atoms are in a shell. */
export interface Rendered {
  /**
   * Belongs to the frame: holds for these commands and for every later one. `$NAME` in a value stands for the frame's
   * own value of that time (expandValue, quoteValue).
   */
  environment: Record<string, string>;
  /** Belongs to the frame as well. */
  umask: string | null;
  /** In order; each is one bash command line that fails when anything in it fails. */
  commands: string[];
  /** Atoms that gave nothing. */
  left: { name: string; reason: string }[];
}

export interface RenderOptions {
  /** The interpreter whose pip is meant. */
  python?: string;
  captures?: Captures;
}

/** Renders atoms in their order. Everything but the text of shell commands is quoted. */
export function renderAtoms(atoms: readonly Atom[], options: RenderOptions = {}): Rendered {
  const rendered: Rendered = { environment: {}, umask: null, commands: [], left: [] };
  for (const atom of atoms) {
    const reason = addAtom(rendered, atom, options);
    if (reason !== null) rendered.left.push({ name: atom.name, reason });
  }
  return rendered;
}

function addAtom(rendered: Rendered, atom: Atom, options: RenderOptions): string | null {
  const filled = fillAtom(atom, options.captures ?? {});
  if (filled === null) return `needs ${placeholdersOf(atom).join(", ")} of a message`;
  const parsed = parseAtom(filled);
  return "wrong" in parsed ? parsed.wrong : add(rendered, parsed, options.python ?? "python3");
}

/** Null, or why the atom gave nothing. */
function add(rendered: Rendered, { name, args }: ParsedAtom, python: string): string | null {
  const { environment, commands } = rendered;
  switch (name) {
    case "pip_install": {
      const names = args.packages ?? [args.package ?? args.name ?? ""];
      const spec = args.spec ?? (args.version === undefined ? "" : specifier(args.version));
      return pip(commands, python, args.flags, names, spec);
    }
    case "pip_pin":
      return pip(commands, python, [], [args.package ?? args.name ?? ""], args.spec ?? args.version ?? "");
    case "apt_install":
      return apt(commands, args.packages ?? [args.package ?? args.name ?? ""]);
    case "conda_install":
      return conda(commands, args.packages ?? [args.package ?? args.name ?? ""], args.channel);
    case "npm_install":
      return npm(commands, args.packages ?? []);
    case "shell":
      commands.push((args.cmd ?? args.command ?? "").trim());
      return null;
    case "adjust_command":
      commands.push((args.modified_command ?? args.cmd ?? "").trim());
      return null;
    case "set_env":
      environment[args.key ?? args.var ?? args.name ?? ""] = args.value;
      return null;
    case "set_umask":
      rendered.umask = args.value;
      return null;
    case "set_pytest_flag":
      addPytestFlag(environment, args.name, args.value ?? "");
      return null;
    case "set_django_setting":
      return django(rendered, python, args.key, args.value);
    case "or_upgrade_pkg": {
      const target = args.package_name ?? args.name ?? "";
      if (args.package_manager === "apt") return apt(commands, [target]);
      const spec = args.min_version === undefined ? "" : `>=${args.min_version}`;
      return pip(commands, python, ["--upgrade"], [target], spec);
    }
  }
}

function pip(commands: string[], python: string, flags: string[], names: string[], spec: string) {
  const given = names.map((name) => pipArguments(name, spec));
  const wrong = names.find((_, index) => given[index] === null);
  if (wrong !== undefined) return `name: ${JSON.stringify(wrong)} is nothing that pip installs`;
  const words = [...flags, ...given.flatMap((part) => part ?? [])];
  commands.push(`${quote(python)} -m pip install ${words.map(quote).join(" ")}`);
  return null;
}

function apt(commands: string[], packages: string[]): string | null {
  const wrong = packages.find((name) => !/^[a-z0-9][a-z0-9+.:=~*-]*$/.test(name));
  if (wrong !== undefined) return `packages: ${JSON.stringify(wrong)} is not the name of a Debian package`;
  const install = "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends";
  commands.push(`apt-get update -qq && ${install} ${packages.map(quote).join(" ")}`);
  return null;
}

function conda(commands: string[], packages: string[], channel: string | undefined): string | null {
  const wrong = packages.find((name) => name.startsWith("-"));
  if (wrong !== undefined) return `packages: ${JSON.stringify(wrong)} is not the name of a package`;
  const from = channel === undefined ? "" : `-c ${quote(channel)} `;
  const tool = '"$(command -v conda || command -v mamba || command -v micromamba || echo conda)"';
  commands.push(`${tool} install -y ${from}${packages.map(quote).join(" ")}`);
  return null;
}

function npm(commands: string[], packages: string[]): string | null {
  const wrong = packages.find((name) => name.startsWith("-"));
  if (wrong !== undefined) return `packages: ${JSON.stringify(wrong)} is not the name of a package`;
  commands.push(["npm install", ...packages.map(quote)].join(" "));
  return null;
}

/** pytest reads flags of this variable on every run, split as a shell would. */
function addPytestFlag(environment: Record<string, string>, flag: string, value: string): void {
  const word =
    value === "" ? flag : flag.startsWith("--") ? `${flag}=${quote(value)}` : `${flag} ${quote(value)}`;
  environment.PYTEST_ADDOPTS = `${environment.PYTEST_ADDOPTS ?? `\${PYTEST_ADDOPTS}`} ${word}`;
}

function django(rendered: Rendered, python: string, key: string, value: unknown): string | null {
  if (key === "DJANGO_SETTINGS_MODULE") {
    if (typeof value !== "string" || !/^[A-Za-z_][\w.]*$/.test(value))
      return "value: must be a module's name";
    rendered.environment.DJANGO_SETTINGS_MODULE = value;
    return null;
  }
  rendered.commands.push(djangoSettingCommand(python, key, value));
  rendered.environment.DJANGO_SETTINGS_MODULE = OVERLAY_MODULE;
  return null;
}

/** A bash script with the same effect, for readers and for artifacts; it ends at the first command that fails. */
export function renderedScript({ environment, umask, commands }: Rendered): string {
  const exports = Object.entries(environment).map(([name, value]) => `export ${name}=${quoteValue(value)}`);
  const mask = umask === null ? [] : [`umask ${umask}`];
  return ["set -e", ...mask, ...exports, ...commands, ""].join("\n");
}
