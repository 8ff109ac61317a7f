const MAX_NOTES = 20;
const MAX_LENGTH = 300;

/** Paths are the source's and may be many and long, while notes travel through history. */
export function shortNotes(notes: readonly string[]): string[] {
  const more = notes.length - MAX_NOTES;
  const short = notes
    .slice(0, MAX_NOTES)
    .map((note) => (note.length <= MAX_LENGTH ? note : `${note.slice(0, MAX_LENGTH - 1)}…`));
  return more > 0 ? [...short, `and ${more} more`] : short;
}
