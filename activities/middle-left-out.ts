/** At most about so many characters of a text: its beginning and its end, where what matters mostly stands. */
export function middleLeftOut(text: string, characters: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= characters) return trimmed;
  const half = Math.floor(characters / 2);
  return `${trimmed.slice(0, half)}\n[… left out …]\n${trimmed.slice(-half)}`;
}
