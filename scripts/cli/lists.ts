/** Lists that came from the configuration file: a flag replaces them, while a repeated flag adds to the one before. */
export const listsFromFile = new WeakSet<object>();

/** Parts between commas, after those of an earlier flag. */
export function list(text: string, before: string[] = []): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return [...earlier(before), ...parts.filter(Boolean)];
}

export function earlier<T>(before: T[]): T[] {
  return listsFromFile.has(before) ? [] : before;
}
