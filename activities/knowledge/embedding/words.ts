/** Words that messages of every kind have; they say little about which problem it is. */
const COMMON = new Set(
  (
    "the and for with from that this was were has have not but can cannot could you your are its all any " +
    "error errors failed failure failing warning traceback most recent call last file line python python3 pip in of to is " +
    "on at by as or if it an be usr lib bin local workspace repo venv site packages dist tmp var opt root home src " +
    "exit code status command commands run running return returned import module install installed installing installation " +
    "package project test tests linux os py use using when then there which will would should may must need needs"
  ).split(" "),
);

const COMMON_WEIGHT = 0.15;

/**
 * The words of a text in lower case, with weights. Version numbers are all alike; addresses, digests and single letters
 * say nothing. Patterns are read as the words in them.
 */
export function wordsOf(text: string): { word: string; weight: number }[] {
  const plain = text
    .replaceAll(/https?:\/\/\S+/g, " ")
    .replaceAll(/\(\?<\w+>/g, " ")
    .replaceAll(/\\[bBdDwWsSnrt]/g, " ")
    .replaceAll(/\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b/gi, " ")
    .toLowerCase();
  const words: { word: string; weight: number }[] = [];
  for (const [token] of plain.matchAll(/[a-z][a-z0-9+]*|\d[\d.]*/g)) {
    if (/^\d/.test(token)) continue;
    if (token.length < 2) continue;
    words.push({ word: token, weight: COMMON.has(token) ? COMMON_WEIGHT : 1 });
  }
  return words;
}
