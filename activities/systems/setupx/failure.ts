import { bareLines, isTelling } from "../../knowledge/telling.ts";

/** The lines that tell what is wrong, numbers and places left out, each once. */
export function tellingLines(text: string): Set<string> {
  const open = (line: string) => line.replaceAll(/\d+/g, "#").replaceAll(/0x[0-9a-f]+|\/tmp\/\S+/g, "…");
  return new Set(bareLines(text).filter(isTelling).map(open));
}

/** Whether a failure is another one than before: something that was wrong is wrong no more. */
export function gotFurther(before: string, after: string): boolean {
  const [was, is] = [tellingLines(before), tellingLines(after)];
  return was.size === 0 ? before.trim() !== after.trim() : [...was].some((line) => !is.has(line));
}
