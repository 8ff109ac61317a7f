const open = new Set<() => Promise<unknown>>();

/** Undoes what `work` needed when that has ended, and also when a signal ends the process meanwhile. */
export async function undone<T>(work: () => Promise<T>, undo: () => Promise<unknown>): Promise<T> {
  open.add(undo);
  try {
    return await work();
  } finally {
    // Whoever took it away ends the process after it: what fails meanwhile is of no interest any more.
    if (!open.delete(undo)) await new Promise(() => undefined);
    await undo();
  }
}

/** From now on SIGINT and SIGTERM undo what is open, the last one first, and end the process with their exit code. */
export function undoOnSignals(): void {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    // Not once: a running child's handler would take itself for the only one that is left, and end the process.
    process.on(signal, () => void end(code));
  }
}

let isEnding = false;

async function end(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  const undoing = [...open].reverse();
  open.clear();
  for (const undo of undoing) {
    await undo().catch((error: Error) => process.stderr.write(`pnpm benchmark: ${error.message}\n`));
  }
  process.exit(code);
}
