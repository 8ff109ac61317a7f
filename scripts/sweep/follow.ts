import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import { isUnreachable, stageOf, workflowState } from "../../activities/reaper/ask.ts";
import { latestRecord } from "../../activities/store/sweep-folder.ts";
import type { RunRecord } from "../../results/record.ts";
import type { Stage } from "../../workflows/run.ts";
import type { Progress } from "../../workflows/sweep.ts";
import { progressOf } from "./client.ts";

export interface View {
  sweep: string;
  progress: Progress;
  stages: { cell: string; stage: Stage | null }[];
  /** Records of the cells that ended since the last view. */
  finished: RunRecord[];
}

export interface FollowOptions {
  client: Client;
  id: string;
  folder: string;
  show: (view: View) => void;
  /** Told when the server does not answer (it is being restarted) and when it does again. */
  tell: (line: string) => void;
  signal: AbortSignal;
  /** Whether cells that ended before the first look are shown too. */
  fromStart: boolean;
}

const POLL_MS = 1_000;
/** As long as this the server may be away before that is said. */
const QUIET_MS = 5_000;

/** Shows a sweep's progress until it ends; returns early when the signal aborts. */
export async function followSweep(options: FollowOptions): Promise<void> {
  const { client, id, signal } = options;
  let shown = options.fromStart ? 0 : null;
  let silentSince: number | null = null;
  let told = false;
  while (!signal.aborted) {
    try {
      const state = await workflowState(client, id);
      if (state === "absent") throw new Error(`the Temporal server knows no sweep ${id}`);
      const progress = await progressOf(client, id);
      const stages = await Promise.all(
        progress.running.map(async (cell) => ({ cell, stage: await stageOf(client, `${id}/${cell}`) })),
      );
      const { recent, done } = progress;
      const ended = recent.slice(Math.max(0, recent.length - (done - (shown ?? done))));
      const records = await Promise.all(ended.map((cell) => latestRecord(options.folder, cell)));
      shown = done;
      options.show({ sweep: id, progress, stages, finished: records.filter((record) => record !== null) });
      if (told) options.tell("the Temporal server answers again");
      [silentSince, told] = [null, false];
      if (state === "ended") return;
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      silentSince ??= Date.now();
      if (!told && Date.now() - silentSince > QUIET_MS) {
        options.tell("the Temporal server or its worker does not answer; waiting for it");
        told = true;
      }
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
