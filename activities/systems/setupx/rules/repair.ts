import type { Choices } from "./era.ts";
import type { Facts } from "./facts.ts";
import { plainName } from "./names.ts";
import { installCommand } from "./tools.ts";

/** How a missing program is spoken of. What debconf says of apt-utils harms nothing. */
const PROGRAMS: readonly RegExp[] = [
  /No such file or directory: '([A-Za-z][\w+-]*)'/,
  /(?:^|[\s:])([A-Za-z][\w+-]*): (?:command )?not found/m,
  /unable to execute '([\w+-]+)'/,
  /\b(?!apt-utils)([a-z][\w+-]*) (?:(?:is|was|are|has|been|be|may|probably) )*not (?:been |be )?installed/,
  /(?:not|[Uu]nable to|n't) find (?:the )?(?:program |executable |command )?[`'"]?([a-z][\w+-]*)[`'"]? (?:executable|program|command|binary)/,
  /Program ['"]?([a-z][\w+-]*)['"]? not found/,
];

/** How pkg-config, CMake and Meson speak of a library. */
const CONFIGURED: readonly RegExp[] = [
  /(?:Package|Dependency) ['"]?([\w.+-]+)['"]?,? (?:was )?not found/,
  /No package '([\w.+-]+)' found/,
];

const APT = "apt-get update -qq && apt-get install -y -qq --no-install-recommends";

/**
 * What can be done about a failure by its message alone, without experience: the package that holds the missing file, the
 * distribution of the missing module's name. Ordered; each is one command.
 */
export function repairsOf(message: string, facts: Facts, choices: Choices): string[] {
  const header = /fatal error: ([\w./+-]+\.h(?:pp)?): No such file/.exec(message)?.[1];
  const library = /(lib[\w.+-]+?\.so[\w.]*): cannot open shared object/.exec(message)?.[1];
  const linked = /cannot find -l([\w.+-]+)/.exec(message)?.[1];
  const configured = firstOf(CONFIGURED, message);
  const program = firstOf(PROGRAMS, message);
  return [
    ...(header === undefined ? [] : [packageWith(`/include/(.*/)?${escaped(header)}$`)]),
    ...(library === undefined ? [] : [packageWith(`/${escaped(library)}$`)]),
    ...(linked === undefined ? [] : [packageWith(`/lib${escaped(linked)}\\.so$`)]),
    ...(configured === undefined
      ? []
      : [`${packageWith(`/pkgconfig/${escaped(configured)}\\.pc$`)} pkg-config`]),
    ...(program === undefined
      ? []
      : [`${APT} ${program} || ${packageWith(`^/usr/s?bin/${escaped(program)}$`)}`]),
    ...moduleCommands(message, facts, choices),
  ];
}

function firstOf(patterns: readonly RegExp[], text: string): string | undefined {
  return patterns.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined);
}

/**
 * The packages with the headers that the project's sources include: what a build that fails without a word about it may
 * be missing. Null when there is none.
 */
export function headersCommand({ headers, native }: Facts): string | null {
  const byFolder = new Map<string, string>();
  for (const name of headers.filter(isHeader)) {
    const folder = name.includes("/") ? name.replace(/\/[^/]*$/, "") : name;
    if (!byFolder.has(folder)) byFolder.set(folder, name);
  }
  if (byFolder.size === 0) return null;
  const names = [...byFolder.values()].slice(0, MOST_HEADERS).map(escaped).join("|");
  const search = `apt-file search -x '^/usr/include/([A-Za-z0-9_.+-]+/){0,2}(${names})$'`;
  // Of those that hold a header, the one with the fewest folders around it, then of the shortest name: the plain variant.
  const ranked = `awk -F': ' '/-dev: / { sub("[a-z0-9_]+-linux-gnu/", "", $2); n = split($2, a, "/"); print a[n], n, length($1), $1 }'`;
  const first = `${ranked} | sort -k1,1 -k2,2n -k3,3n | awk '!seen[$1]++ { print $4 }' | sort -u`;
  const swig = native.includes(".i") ? "swig " : "";
  return `${APT} apt-file && apt-file update >/dev/null && found=$(${search} | ${first}) && [ -n "$found" ] && apt-get install -y -qq --no-install-recommends ${swig}pkg-config $found`;
}

const MOST_HEADERS = 12;

/** Other systems' are nowhere in Debian. */
function isHeader(name: string): boolean {
  return /^[\w./+-]+$/.test(name) && !/win|^(?:mach|AvailabilityMacros|OS)\b/i.test(name);
}

/** The development package that holds a file, else the first that does. */
function packageWith(pattern: string): string {
  const found = `apt-file search -x '${pattern}' | cut -d: -f1 | sort -u`;
  const choose = `names=$(${found}); name=$(printf '%s\\n' "$names" | grep -m1 -e '^lib.*-dev$' || printf '%s\\n' "$names" | head -n1)`;
  return `${APT} apt-file && apt-file update >/dev/null && ${choose} && [ -n "$name" ] && apt-get install -y -qq --no-install-recommends "$name"`;
}

function escaped(text: string): string {
  return text.replaceAll(/[.+]/g, "\\$&");
}

/** All at once, then one by one: a name may be no distribution's. */
function moduleCommands(message: string, facts: Facts, choices: Choices): string[] {
  const modules = missingModules(message, facts);
  const together = modules.length > 1 ? [modules.join(" ")] : [];
  return [...together, ...modules].map((names) => installCommand(facts, choices, names));
}

function missingModules(message: string, { packages, name }: Facts): string[] {
  const own = new Set([...packages, plainName(name)].map(plainName));
  const found = [...message.matchAll(/No module named '?([A-Za-z]\w*)/g)].map((match) => match[1] ?? "");
  return [...new Set(found)].filter((module) => !own.has(plainName(module))).slice(0, 8);
}

/** Distributions that an installer says it can't build; the project itself is none of them. */
export function unbuildable(message: string, { name }: Facts): string[] {
  const patterns = [
    /Failed to (?:download and )?build(?: and install)? [`']?([A-Za-z0-9][\w.-]*?)[=@ `']/g,
    /Failed building (?:wheel|editable) for ([A-Za-z0-9][\w.-]*)/g,
    /Failed to build ([A-Za-z0-9][\w.-]*)$/gm,
  ];
  const found = patterns.flatMap((pattern) =>
    [...message.matchAll(pattern)].map((match) => plainName(match[1] ?? "")),
  );
  return [...new Set(found)].filter((one) => one !== "" && one !== plainName(name));
}
