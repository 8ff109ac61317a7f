/** The `count` names closest to what was typed (edit distance, case apart), for error messages. */
export function nearest(typed: string, names: readonly string[], count = 3): string[] {
  const wanted = typed.toLowerCase();
  return names
    .map((name) => ({ name, distance: distance(wanted, name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

/** Levenshtein's distance; a name that contains the other counts its missing letters half. */
function distance(a: string, b: string): number {
  if (a !== "" && (a.includes(b) || b.includes(a))) return Math.abs(a.length - b.length) / 2;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
