import type { RunRecord } from "../../results/record.ts";
import type { View } from "../sweep/follow.ts";
import { type RateMeter, rateMeter } from "./rate.ts";

export interface ProgressWriter {
  show(view: View): void;
  tell(line: string): void;
  /** Leaves the last state on the screen. */
  end(): void;
}

const SUMMARY_EVERY_MS = 30_000;

/** Live lines on a terminal; elsewhere one plain line for each finished run and a summary twice a minute. */
export function progressWriter(out: NodeJS.WriteStream): ProgressWriter {
  return out.isTTY ? liveWriter(out) : plainWriter(out);
}

function plainWriter(out: NodeJS.WriteStream): ProgressWriter {
  const summary = summariser();
  let shownAt = 0;
  let shown = "";
  return {
    show(view) {
      for (const record of view.finished) out.write(`${finishedLine(record)}\n`);
      const line = summary(view);
      if (line !== shown && (Date.now() - shownAt > SUMMARY_EVERY_MS || view.progress.paused !== null)) {
        for (const each of [line, ...remedy(view)]) out.write(`${each}\n`);
        [shown, shownAt] = [line, Date.now()];
      }
    },
    tell: (line) => void out.write(`${line}\n`),
    end: () => undefined,
  };
}

function liveWriter(out: NodeJS.WriteStream): ProgressWriter {
  const summary = summariser();
  let height = 0;
  const clear = () => {
    if (height > 0) out.write(`\x1b[${height}A\x1b[J`);
    height = 0;
  };
  return {
    show(view) {
      clear();
      for (const record of view.finished) out.write(`${finishedLine(record)}\n`);
      const width = (out.columns ?? 80) - 1;
      const room = Math.max((out.rows ?? 24) - 4, 1);
      const lines = [summary(view), ...remedy(view), ...view.stages.slice(0, room).map(stageLine)].map(
        (line) => line.slice(0, width),
      );
      out.write(lines.map((line) => `${line}\n`).join(""));
      height = lines.length;
    },
    tell(line) {
      clear();
      out.write(`${line}\n`);
    },
    end: () => undefined,
  };
}

/** One finished run: its cell, what it achieved, and why not more. */
function finishedLine(record: RunRecord): string {
  const built = record.ebsr ? "built" : "not built";
  const share = record.essr === null ? "" : `, ${(record.essr * 100).toFixed(1)} % of its gold tests`;
  const cause = record.cause === null ? "" : `, ${record.cause}`;
  const validity = record.validity === "valid" ? "" : " [not graded]";
  return `  ${record.cell}: ${built}${share}${cause}${validity} (${Math.round(record.wall_seconds)} s set-up)`;
}

/** The summary line of each view in turn; it remembers how fast the sweep has been. */
function summariser(): (view: View) => string {
  let meter: RateMeter | undefined;
  return ({ progress }) => {
    meter ??= rateMeter(progress.startedAt);
    return summaryLine(progress, meter(progress.done, Date.now()));
  };
}

function summaryLine(progress: View["progress"], rate: number | null): string {
  const { done, settled, total, running, paused, causes } = progress;
  const ended = done + settled;
  const parts = [`${ended}/${total ?? "?"} cells`, `${running.length} running`];
  if (paused !== null) parts.push(`PAUSED: ${paused}`);
  else if (rate !== null && total !== null && total > ended) {
    parts.push(`${(rate * 60).toFixed(1)}/min`, `about ${clock((total - ended) / rate)} left`);
  }
  const counted = Object.entries(causes).map(([cause, count]) => `${cause} ${count}`);
  if (counted.length > 0) parts.push(counted.join(", "));
  return parts.join(" · ");
}

/** How a paused sweep goes on, on a line of its own: no narrow terminal may cut its name off. */
function remedy({ sweep, progress }: View): string[] {
  return progress.paused === null ? [] : [`  go on with: pnpm bench unpause ${sweep}`];
}

function stageLine({ cell, stage }: View["stages"][number]): string {
  if (stage === null) return `  ${cell}: starting`;
  const step = stage.step > 0 ? ` step ${stage.step}` : "";
  const attempt = stage.attempt > 1 ? ` (attempt ${stage.attempt})` : "";
  return `  ${cell}: ${stage.stage}${step}${attempt}, ${clock((Date.now() - stage.since) / 1_000)}`;
}

function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
