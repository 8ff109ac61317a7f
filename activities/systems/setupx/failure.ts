/** The kinds of line that tell what is wrong; what is around them repeats it or says where. */
const TELLING =
  /No module named|fatal error: |command not found|: not found$|cannot open shared object|^(?:E|ERROR|error|Error)\b|\b\w*(?:Error|Exception)\b|No such file or directory|fixture '|Connection refused|unrecognized arguments|No matching distribution|conflict/;

/** The lines that tell what is wrong, numbers and places left out, each once. */
export function tellingLines(text: string): Set<string> {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => TELLING.test(line))
    .map((line) => line.replaceAll(/\d+/g, "#").replaceAll(/0x[0-9a-f]+|\/tmp\/\S+/g, "…"));
  return new Set(lines);
}

/** Whether a failure is another one than before: something that was wrong is wrong no more. */
export function gotFurther(before: string, after: string): boolean {
  const [was, is] = [tellingLines(before), tellingLines(after)];
  return was.size === 0 ? before.trim() !== after.trim() : [...was].some((line) => !is.has(line));
}
