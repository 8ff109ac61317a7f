/** A word for bash that means exactly `text`, whatever it holds. A NUL can't be part of any command: it is dropped. */
export function quote(text: string): string {
  const clean = text.replaceAll("\0", "");
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", `'\\''`)}'`;
}

const REFERENCE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g;

/** `$NAME` and `${NAME}` of a value, from `environment`; what is not set is empty. Nothing else is expanded. */
export function expandValue(value: string, environment: Readonly<Record<string, string>>): string {
  return value.replaceAll(REFERENCE, (_, braced?: string, bare?: string) => {
    return environment[braced ?? bare ?? ""] ?? "";
  });
}

/** A word for bash in which only references to variables are expanded: commands in a value never run. */
export function quoteValue(value: string): string {
  const clean = value.replaceAll("\0", "");
  let word = "";
  let end = 0;
  for (const match of clean.matchAll(REFERENCE)) {
    const literal = clean.slice(end, match.index);
    word += `${literal === "" ? "" : quote(literal)}"\${${match[1] ?? match[2]}-}"`;
    end = match.index + match[0].length;
  }
  const rest = clean.slice(end);
  return word === "" || rest !== "" ? word + quote(rest) : word;
}
