/**
 * Times the setup stage. A step that took much longer on the wall than it worked was interrupted (the machine was
 * off, every worker was gone): such a gap is nobody's time and counts for neither budget. Pieces of work that overlap
 * are each work, and one time on the wall.
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
  /** Up to when wall time has been counted. */
  let counted = Number.NEGATIVE_INFINITY;
  return {
    async time(work, own) {
      const from = now();
      const result = await work();
      const until = now();
      const elapsed = (until - from) / 1_000;
      const worked = own(result) ?? Math.min(elapsed, ORDINARY_DELAY_SECONDS);
      working += worked;
      const spent = Math.max(worked, Math.min(elapsed, worked + ORDINARY_DELAY_SECONDS));
      wall += from >= counted ? spent : Math.max(0, Math.min(spent, (until - counted) / 1_000));
      counted = Math.max(counted, until);
      return result;
    },
    wallSeconds: () => wall,
    workingSeconds: () => working,
  };
}
