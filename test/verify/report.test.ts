import { createHmac } from "node:crypto";
import { Readable } from "node:stream";
import test from "ava";
import fc from "fast-check";
import { type ReportEvent, readReport } from "../../activities/verify/report.ts";

const KEY = "0f".repeat(32);

/** Signed as bench_runner.py signs. */
function sign(events: readonly ReportEvent[], key = KEY): string[] {
  let last = "";
  return events.map((event) => {
    const body = JSON.stringify(event);
    last = createHmac("sha256", Buffer.from(key, "hex")).update(last).update(body).digest("hex");
    return `${last} ${body}`;
  });
}

const read = (lines: readonly string[]) => readReport(Readable.from([`\n${lines.join("\n")}\n`]), KEY);

const STORY: readonly ReportEvent[] = [
  { event: "session", pytest: "9.0.2", python: "3.13.0", rootdir: "/workspace/repo" },
  { event: "module", id: "a.py", count: 2 },
  { event: "collect_error", id: "b.py", text: "SyntaxError" },
  { event: "item", id: "a.py::one" },
  { event: "item", id: "a.py::two" },
  { event: "collected", count: 2 },
  { event: "start", id: "a.py::one" },
  { event: "result", id: "a.py::one", outcome: "passed", seconds: 0.5, text: null },
  { event: "start", id: "a.py::two" },
];

test("a report that was cut keeps all that was said and the test that was running", async (t) => {
  const session = await read(sign(STORY));
  t.like(session, {
    pytest: "9.0.2",
    seen: 2,
    collected: true,
    running: "a.py::two",
    exit: null,
    error: null,
  });
  t.deepEqual(session.items, ["a.py::one", "a.py::two"]);
  t.deepEqual(session.collectionErrors, [{ id: "b.py", text: "SyntaxError" }]);
  t.deepEqual(
    session.results.map(({ id }) => id),
    ["a.py::one"],
  );
});

test("a line without end is passed over, and what comes after it counts", async (t) => {
  const flood = (function* () {
    yield "\n";
    for (let piece = 0; piece < 64; piece++) yield "x".repeat(1 << 20);
    yield `\n${sign(STORY).join("\n")}\n`;
  })();
  const session = await readReport(Readable.from(flood), KEY);
  t.is(session.results.length, 1);
});

test("the end counts more than the session's finish", async (t) => {
  const session = await read(
    sign([
      { event: "finish", exit: 0 },
      { event: "end", exit: 1, error: null },
    ]),
  );
  t.is(session.exit, 1);
});

test("collection is whole only with as many items as were announced", async (t) => {
  t.false(
    (
      await read(
        sign([
          { event: "item", id: "a" },
          { event: "collected", count: 2 },
        ]),
      )
    ).collected,
  );
});

test("lines signed with another key count for nothing", async (t) => {
  const session = await read(sign(STORY, "00".repeat(32)));
  t.is(session.pytest, null);
  t.is(session.items.length, 0);
});

test("whatever is put between the lines changes nothing", async (t) => {
  const lines = sign(STORY);
  const expected = await read(lines);
  const noise = fc.string({ maxLength: 120 }).map((text) => text.replaceAll(/[\r\n\u2028\u2029]/g, " "));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(lines.length), noise), { maxLength: 8 }), async (inserted) => {
      const mixed = [...lines];
      for (const [at, text] of inserted) mixed.splice(at, 0, text);
      t.deepEqual(await read(mixed), expected);
    }),
  );
});

test("after a line that is gone, changed or moved, nothing counts", async (t) => {
  const lines = sign(STORY);
  await fc.assert(
    fc.asyncProperty(fc.nat(lines.length - 2), fc.constantFrom("drop", "change", "swap"), async (at, how) => {
      const altered = [...lines];
      if (how === "drop") altered.splice(at, 1);
      if (how === "change") altered[at] = (lines[at] ?? "").replace('"event"', '"Event"');
      if (how === "swap") altered.splice(at, 2, lines[at + 1] ?? "", lines[at] ?? "");
      const kept = how === "swap" ? at + 1 : at;
      const session = await read(altered);
      const reference = [...sign(STORY.slice(0, kept))];
      t.deepEqual(session, await read(reference));
    }),
  );
});
