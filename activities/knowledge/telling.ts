/** The kinds of line that tell what is wrong, the most telling first. */
export const TELLING: readonly RegExp[] = [
  /No module named \S+/,
  /fatal error: /,
  /: (?:command )?not found$/,
  /cannot open shared object file/,
  /^(?:E|ERROR|error|Error)\b.*: /,
  /\b\w*(?:Error|Exception)\b: /,
  /No such file or directory/,
  /fixture '\w+' not found/,
  /[Cc]onnection refused/,
  /unrecognized arguments/,
];

/** Where in a file or script it was: other projects have other files. */
const PLACE = /^(?:[\w./+-]+:\d+(?::\d+)?: |(?:\/bin\/)?(?:ba)?sh: (?:line )?\d+: )/;

/** What pip and others print around the line that matters. */
const WRAPPING =
  /subprocess-exited-with-error|metadata-generation-failed|Failed building wheel|exit code|note: |hint: |legacy-install-failure|short test summary/;

/** The lines of an output without what tools put before and around them. */
export function bareLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) =>
      line
        .replace(/^(?:E\s{2,}|\s+|[│×╰─>]+\s*)+/, "")
        .replace(PLACE, "")
        .trim(),
    )
    .filter((line) => line !== "" && !WRAPPING.test(line));
}

export function isTelling(line: string): boolean {
  return TELLING.some((kind) => kind.test(line));
}
