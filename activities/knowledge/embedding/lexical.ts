import type { Embedding } from "./embedding.ts";
import { normalised } from "./vector.ts";
import { wordsOf } from "./words.ts";

/** Changes with anything that changes vectors: the words, their weights, the hash, the dimension. */
export const LEXICAL_NAME = "lexical-1@1024";

const DIMENSION = 1024;
const PAIR_WEIGHT = 0.6;
const PIECE_WEIGHT = 0.35;
const PIECE_LENGTH = 4;

/**
 * Features of the text itself: words, pairs of neighbours, and pieces of words, hashed with a sign into a vector. Words
 * that any message has weigh little. Equal texts give equal vectors on any machine; nothing is learnt or asked for.
 */
export const lexicalEmbedding: Embedding = {
  name: LEXICAL_NAME,
  dimension: DIMENSION,
  minimum: 0.12,
  duplicate: 0.85,
  embed: async (texts) => texts.map(lexicalVector),
};

export function lexicalVector(text: string): Float32Array {
  const weights = new Map<string, number>();
  const add = (feature: string, weight: number) => weights.set(feature, (weights.get(feature) ?? 0) + weight);
  let before: { word: string; weight: number } | null = null;
  for (const current of wordsOf(text)) {
    add(current.word, current.weight);
    if (before !== null) {
      add(`${before.word} ${current.word}`, PAIR_WEIGHT * Math.sqrt(before.weight * current.weight));
    }
    for (const piece of piecesOf(current.word)) add(piece, PIECE_WEIGHT * current.weight);
    before = current;
  }
  const vector = new Float32Array(DIMENSION);
  for (const [feature, weight] of weights) {
    const hash = fnv1a(feature);
    const index = hash % DIMENSION;
    // A word said ten times is not ten times as important.
    vector[index] = (vector[index] ?? 0) + (hash & 0x8000_0000 ? -1 : 1) * Math.sqrt(weight);
  }
  return normalised(vector);
}

function piecesOf(word: string): string[] {
  if (word.length <= PIECE_LENGTH) return [];
  const count = word.length - PIECE_LENGTH + 1;
  return Array.from({ length: count }, (_, start) => `~${word.slice(start, start + PIECE_LENGTH)}`);
}

function fnv1a(text: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  }
  // Short texts leave the upper bits alike, and the sign is one of them.
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b_3c6d);
  hash ^= hash >>> 13;
  return hash >>> 0;
}
