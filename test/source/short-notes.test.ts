import test from "ava";
import fc from "fast-check";
import { shortNotes } from "../../activities/source/short-notes.ts";

test("Notes are kept while they are few and short, and never grow beyond what history may carry", (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 600 }), { maxLength: 60 }), (notes) => {
      const short = shortNotes(notes);
      t.true(JSON.stringify(short).length < 48 * 1024);
      t.true(short.length <= 21);
      if (notes.length <= 20) t.is(short.length, notes.length);
      else t.is(short.at(-1), `and ${notes.length - 20} more`);
      for (const [index, note] of notes.slice(0, 20).entries()) {
        if (note.length <= 300) t.is(short[index], note);
        else t.true(note.startsWith(short[index]?.slice(0, -1) ?? "?") && short[index]?.length === 300);
      }
    }),
  );
});
