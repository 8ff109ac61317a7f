import type { Atom } from "../unit.ts";
import { quote } from "./quote.ts";

/** What the named groups of a unit's regexes matched in a message. */
export type Captures = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g;
const SHELL_ARGUMENTS = new Set(["cmd", "command", "modified_command"]);

/**
 * The atom with `{{group}}` replaced by what was captured; null where nothing was. In shell commands the text becomes
 * one quoted word, since a message is written by whoever made the repository.
 */
export function fillAtom(atom: Atom, captures: Captures): Atom | null {
  let missing = false;
  const fill = (text: string, wrap: (value: string) => string) =>
    text.replaceAll(PLACEHOLDER, (_, group: string) => {
      const value = captures[group];
      if (value === undefined || value === "") missing = true;
      return wrap(value ?? "");
    });
  const fillValue = (key: string, value: unknown): unknown => {
    if (typeof value === "string")
      return fill(value, SHELL_ARGUMENTS.has(key) ? quote : (captured) => captured);
    return Array.isArray(value) ? value.map((item) => fillValue(key, item)) : value;
  };
  const args = Object.fromEntries(
    Object.entries(atom.args).map(([key, value]) => [key, fillValue(key, value)]),
  );
  return missing ? null : { name: atom.name, args };
}

/** Names of the placeholders of an atom. */
export function placeholdersOf(atom: Atom): string[] {
  return [...JSON.stringify(atom.args).matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
}
