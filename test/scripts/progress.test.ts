import { PassThrough } from "node:stream";
import test from "ava";
import { progressWriter } from "../../scripts/cli/progress.ts";
import { recordOf } from "../results/record-fixture.ts";

const view = (finished = [recordOf({ cell: "h11--naive" })]) => ({
  sweep: "smoke-1",
  progress: {
    settled: 0,
    done: 1,
    ungraded: 0,
    causes: { tests_failed: 1 },
    paused: null as string | null,
    startedAt: Date.now() - 60_000,
    recent: [],
    total: 4,
    parallel: 2,
    running: ["h11--oracle"],
  },
  stages: [
    { cell: "h11--oracle", stage: { attempt: 1, stage: "replay", step: 0, since: Date.now() - 5_000 } },
  ],
  finished,
});

const ESCAPE = "\u001b";

function screen(more: object) {
  const stream = Object.assign(new PassThrough(), more);
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => String(stream.read() ?? "") };
}

test("without a terminal each finished run is one plain line, and the summary is not repeated at every look", (t) => {
  const { stream, text } = screen({ isTTY: false });
  const writer = progressWriter(stream);
  writer.show(view());
  writer.show(view([]));
  const lines = text().trimEnd().split("\n");
  t.is(lines.length, 2);
  t.is(lines[0], "  h11--naive: built, 100.0 % of its gold tests (30 s set-up)");
  t.regex(lines[1] ?? "", /^1\/4 cells · 1 running · 1\.0\/min · about 3 min 0 s left · tests_failed 1$/);
  t.false(lines.join("\n").includes(ESCAPE));
});

test("a paused sweep says so and how to go on", (t) => {
  const { stream, text } = screen({ isTTY: false });
  const paused = view([]);
  paused.progress.paused = "5 runs in a row failed with sandbox_lost";
  progressWriter(stream).show(paused);
  t.regex(
    text(),
    /PAUSED: 5 runs in a row failed with sandbox_lost · tests_failed 1\n {2}go on with: pnpm bench unpause smoke-1\n/,
  );
});

test("on a terminal the running cells are redrawn with their stage, within its width", (t) => {
  const { stream, text } = screen({ isTTY: true, columns: 40, rows: 10 });
  const writer = progressWriter(stream);
  writer.show(view());
  writer.show(view([]));
  const shown = text();
  t.regex(shown, /h11--oracle: replay, 5 s/);
  t.true(shown.includes(`${ESCAPE}[2A${ESCAPE}[J`));
  const drawn = shown.split(`${ESCAPE}[J`).at(-1) ?? "";
  for (const line of drawn.split("\n")) t.true(line.length < 40, line);
});
