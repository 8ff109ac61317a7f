import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { attemptFolder, attemptsOf, readRecord } from "../../activities/store/sweep-folder.ts";
import { readTrajectory, type Step, type StepOutput } from "../../activities/store/trajectory.ts";
import { cellsOf } from "../../benchmarks/cells.ts";
import { nearest } from "../../benchmarks/nearest.ts";
import { UsageError } from "../../benchmarks/usage-error.ts";
import { counted } from "../../results/format.ts";
import type { RunRecord } from "../../results/record.ts";
import type { Move } from "../../workflows/moves.ts";
import type { CommonOptions } from "../cli/options.ts";
import { planByName } from "../sweep/open.ts";

/** `bench inspect SWEEP/CELL[/ATTEMPT]`: what was done, what came of it, and how it was judged. */
export async function inspectRun(options: CommonOptions, run: string): Promise<number> {
  const [sweep, cell, number] = run.split("/");
  if (!sweep || !cell)
    throw new UsageError(`inspect ${run}: name the run as SWEEP/CELL or SWEEP/CELL/ATTEMPT`);
  const { folder, plan } = await planByName(options, sweep);
  const cells = cellsOf(plan).map(({ id }) => id);
  if (!cells.includes(cell)) {
    throw new UsageError(`sweep ${sweep} has no cell ${cell}; nearest: ${nearest(cell, cells).join(", ")}`);
  }
  const attempts = await attemptsOf(folder, cell);
  const attempt = number === undefined ? attempts.at(-1) : Number(number);
  if (attempt === undefined || !attempts.includes(attempt)) {
    throw new UsageError(
      `inspect ${run}: no such attempt; ${cell} has ${attempts.length === 0 ? "not begun" : attempts.join(", ")}`,
    );
  }
  const key = { folder, sweep, cell, attempt };
  const [steps, record] = [await readTrajectory(key), await readRecord(key)];
  const artifact = await readFile(join(attemptFolder(key), "artifact", "setup.sh"), "utf8").catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    },
  );
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ run, attempt, attempts, record, steps, artifact }, null, 2)}\n`);
    return 0;
  }
  const text = [
    `${sweep}/${cell}, attempt ${attempt} of ${attempts.join(", ")}`,
    ...steps.map(stepText),
    record === null ? "no record: the attempt runs, was cancelled or was lost" : recordText(record),
    `files: ${attemptFolder(key)}`,
  ].join("\n\n");
  process.stdout.write(`${printable(text)}\n`);
  return 0;
}

function stepText({ step, part, move, command, values, observation }: Step): string {
  const name = part === 0 ? String(step) : `${step}.${part}`;
  const head = `── step ${name} ──\n${command === null ? moveText(move, values) : `${rootText(move)}$ ${command}`}`;
  if (observation === null) return head;
  const outcome = `→ ${observation.end}${observation.exit === null ? "" : ` ${observation.exit}`}, ${observation.seconds.toFixed(1)} s`;
  return [
    head,
    ...outputText("stdout", observation.stdout),
    ...outputText("stderr", observation.stderr),
    outcome,
  ].join("\n");
}

function moveText(move: Move, values: Step["values"]): string {
  switch (move.kind) {
    case "environment": {
      const set = Object.entries(values?.environment ?? {}).map(
        ([variable, value]) => `${variable}=${value}`,
      );
      return `${rootText(move)}set ${[...set, ...(values?.umask ? [`umask ${values.umask}`] : [])].join(" ")}`;
    }
    case "push":
    case "pop":
      return `${move.kind} frame ${move.frame}`;
    case "fork":
    case "drop":
      return `${move.kind} ${move.root}`;
    case "command":
      return `${rootText(move)}$`;
  }
}

function rootText(move: Move): string {
  return "root" in move && move.root !== undefined ? `(${move.root}) ` : "";
}

function outputText(name: string, { text, bytes, omitted }: StepOutput): string[] {
  if (bytes === 0) return [];
  const note = omitted > 0 ? ` (${bytes} bytes, ${omitted} left out in the middle)` : "";
  return [`[${name}${note}]`, text.trimEnd()];
}

function recordText(record: RunRecord): string {
  const { replay, collection, tests, gold } = record;
  const statics = record.static;
  const lines = [
    "── result ──",
    `self-claim      ${record.self_claim === null ? "none" : record.self_claim ? "ready" : "not ready"}`,
    `replay          ${replay ? `exit ${replay.exit ?? "none"}, ${replay.seconds.toFixed(1)} s` : "not reached"}`,
    `collection      ${collection ? `${counted(collection.count, "test")}, ${counted(collection.errors, "error")}${collection.ok ? "" : ", failed"}` : "not reached"}`,
    `tests           ${tests ? `${tests.passed} passed, ${tests.failed} failed, ${counted(tests.errors, "error")}, ${tests.skipped} skipped, ${tests.flaky} flaky` : "not run"}`,
    `gold            ${gold ? `${gold.passed} of ${gold.verified}` : "none known"}`,
    `static          ${statics ? `${statics.missing_imports === null ? "imports not checked" : counted(statics.missing_imports, "missing import")}, pip check ${statics.pip_check === null ? "not made" : statics.pip_check ? "clean" : "finds conflicts"}` : "not made"}`,
    `EBSR, ESSR      ${record.ebsr ? "built" : "not built"}, ${record.essr === null ? "not measured" : record.essr.toFixed(4)}`,
    `validity        ${record.validity}${record.cause === null ? "" : `, ${record.cause}`}`,
  ];
  lines.push(...spendingText(record));
  if (record.detail !== null) lines.push(`detail          ${record.detail}`);
  lines.push(...record.notes.map((note) => `note            ${note}`));
  return lines.join("\n");
}

function spendingText({ tokens, cost }: RunRecord): string[] {
  const roles = Object.entries(tokens).map(
    ([role, { input, cached, output }]) => `${role}: ${input} in (${cached} cached), ${output} out`,
  );
  if (roles.length === 0 && cost.unmeasured_calls + cost.unsettled_calls === 0) return [];
  const apart = [
    ...(cost.unmeasured_calls > 0 ? [`${counted(cost.unmeasured_calls, "call")} without a measure`] : []),
    ...(cost.unsettled_calls > 0 ? [`${counted(cost.unsettled_calls, "call")} unsettled`] : []),
  ];
  return [
    `tokens          ${roles.join("; ") || "not reported"}`,
    `cost            ${[`$${cost.measured_usd.toFixed(4)} measured`, ...apart].join(", ")}`,
  ];
}

/** Outputs are hostile: nothing that a terminal would obey is passed on. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}
