import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import {
  attemptFolder,
  attemptsOf,
  claimAttempt,
  latestRecord,
  readPlan,
  readRecord,
  writeRecordOnce,
} from "../../activities/store/sweep-folder.ts";
import { appendStep, readTrajectory, type Step } from "../../activities/store/trajectory.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { recordOf } from "../results/record-fixture.ts";
import { scratchFolder } from "../support/scratch.ts";

async function key(attempt = 1) {
  const folder = await scratchFolder("setup-bench-folder-");
  const made = { folder, sweep: "s", cell: "c--nop", attempt };
  await claimAttempt(made);
  return made;
}

const step = (number: number): Step => ({
  step: number,
  part: 0,
  move: { kind: "command", script: "0".repeat(64), seconds: null },
  values: null,
  command: `echo ${number}`,
  observation: null,
});

test("an attempt's record is written once and never overwritten", async (t) => {
  const attempt = await key();
  const first = recordOf({ cell: attempt.cell, detail: "first" });
  t.true(await writeRecordOnce(attempt, first));
  t.false(await writeRecordOnce(attempt, { ...first, detail: "second" }));
  t.is((await latestRecord(attempt.folder, attempt.cell))?.detail, "first");
});

test("many writers at once leave one whole record", async (t) => {
  const attempt = await key();
  const records = Array.from({ length: 20 }, (_, index) =>
    recordOf({ cell: attempt.cell, detail: `writer ${index}` }),
  );
  const wrote = await Promise.all(records.map((record) => writeRecordOnce(attempt, record)));
  t.is(wrote.filter(Boolean).length, 1);
  t.regex((await latestRecord(attempt.folder, attempt.cell))?.detail ?? "", /^writer \d+$/);
});

test("the latest attempt that has a record counts", async (t) => {
  const attempt = await key();
  await writeRecordOnce(attempt, recordOf({ cell: attempt.cell, attempt: 1 }));
  await writeRecordOnce({ ...attempt, attempt: 10 }, recordOf({ cell: attempt.cell, attempt: 10 }));
  await claimAttempt({ ...attempt, attempt: 11 });
  t.deepEqual(await attemptsOf(attempt.folder, attempt.cell), [1, 10, 11]);
  t.is((await latestRecord(attempt.folder, attempt.cell))?.attempt, 10);
});

test("a step that is appended twice stands in the trajectory once", async (t) => {
  const attempt = await key();
  await appendStep(attempt, step(1));
  await appendStep(attempt, step(1));
  await appendStep(attempt, step(2));
  t.deepEqual(
    (await readTrajectory(attempt)).map((one) => one.step),
    [1, 2],
  );
});

test("a step that two workers wrote at once counts once, and a damaged line is named", async (t) => {
  const attempt = await key();
  await appendStep(attempt, step(1));
  const file = join(attemptFolder(attempt), "trajectory.jsonl");
  await appendFile(file, `${JSON.stringify({ ...step(1), command: "late" })}\n`);
  t.deepEqual(
    (await readTrajectory(attempt)).map((one) => one.command),
    ["echo 1"],
  );
  await appendFile(file, "{\n");
  await t.throwsAsync(readTrajectory(attempt), {
    message: /trajectory\.jsonl:3: not JSON .*move the attempt's/,
  });
});

test("a damaged plan or record is named in one line with the remedy", async (t) => {
  const attempt = await key();
  for (const [text, said] of [
    ["{", /sweep\.json: not JSON .*; restore it/],
    ['{"schema_version":2}', /sweep\.json: schema_version: .*; restore it/],
  ] as const) {
    await writeFile(join(attempt.folder, "sweep.json"), text);
    const error = await t.throwsAsync(readPlan(attempt.folder), { instanceOf: UsageError, message: said });
    t.false(error?.message.includes("\n"));
  }
  await writeFile(join(attemptFolder(attempt), "record.json"), "{}");
  await t.throwsAsync(readRecord(attempt), { message: /record\.json: not a readable record; move it away/ });
});

test("a line that a crash cut is no step and is replaced by the next one", async (t) => {
  const attempt = await key();
  await appendStep(attempt, step(1));
  const file = join(attemptFolder(attempt), "trajectory.jsonl");
  await appendFile(file, '{"step":2,"act');
  t.deepEqual(
    (await readTrajectory(attempt)).map((one) => one.step),
    [1],
  );
  await appendStep(attempt, step(2));
  t.deepEqual(
    (await readTrajectory(attempt)).map((one) => one.step),
    [1, 2],
  );
  t.is((await readFile(file, "utf8")).split("\n").length, 3);
});
