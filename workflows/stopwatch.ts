/**
 * Times the setup stage. A step that took much longer on the wall than it worked was interrupted (the machine was
 * off, every worker was gone): such a gap is nobody's time and counts for neither budget.
 */
export interface Stopwatch {
  /** Runs one piece of work; `own` gives the seconds that it worked by its own measure. */
  time<T>(work: () => Promise<T>, own: (result: T) => number | null): Promise<T>;
  wallSeconds(): number;
  workingSeconds(): number;
}

/** Queueing and polling between two steps that is still taken for ordinary. */
const ORDINARY_DELAY_SECONDS = 60;

export function stopwatch(now: () => number): Stopwatch {
  let wall = 0;
  let working = 0;
  return {
    async time(work, own) {
      const from = now();
      const result = await work();
      const elapsed = (now() - from) / 1_000;
      const worked = own(result) ?? Math.min(elapsed, ORDINARY_DELAY_SECONDS);
      working += worked;
      wall += Math.max(worked, Math.min(elapsed, worked + ORDINARY_DELAY_SECONDS));
      return result;
    },
    wallSeconds: () => wall,
    workingSeconds: () => working,
  };
}
